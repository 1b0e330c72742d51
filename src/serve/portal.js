"use strict";
// Pages are complete without this script. With it, answers appear without reloading, and of the
// three ways to enter an index only the chosen one is shown.
(() => {
  let updates = 0;
  // Replaces the part of the page that changes, by the same part of the page loaded again.
  const update = async () => {
    const reply = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!reply.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const [before, after] = [document.getElementById("live"), page.getElementById("live")];
    if (!before || !after) return;
    before.replaceWith(document.importNode(after, true));
    updates += 1;
    // Makes the new tables and charts interactive.
    await import(`/assets/script.js?update=${updates}`);
  };

  let [isUpdating, isStale] = [false, false];
  // One update at a time; requests during an update lead to one more.
  const refresh = async () => {
    if (isUpdating) { isStale = true; return; }
    isUpdating = true;
    try { do { isStale = false; await update(); } while (isStale); } finally { isUpdating = false; }
  };

  const live = () => document.getElementById("live");
  if (live()) {
    const job = live().dataset.job;
    const events = new EventSource(job ? `/events?job=${job}` : "/events");
    let isFirst = true;
    // The page already shows what happened before the first connection.
    events.addEventListener("open", () => { if (!isFirst) refresh(); isFirst = false; });
    events.addEventListener("message", (message) => {
      const event = JSON.parse(message.data);
      if (event.kind === "job" && job && event.id !== job) return;
      const bar = document.querySelector("#live progress");
      if (event.kind === "job" && job && bar && event.phase === live().dataset.phase) {
        if (event.percent !== null) bar.value = event.percent;
        return;
      }
      // A job of a lake that has grown runs again first, and sends its own events.
      if (event.kind === "lake" && job) return;
      refresh();
    });
    // The job may have ended while the page was loading.
    if (["waiting", "running"].includes(live().dataset.phase)) setTimeout(refresh, 1000);
  }

  // An example is added to its field, once.
  for (const button of document.querySelectorAll(".examples button")) {
    button.addEventListener("click", () => {
      const field = document.getElementById(button.dataset.to);
      const words = field.value.split(/\s+/).filter((word) => word !== "");
      if (!words.includes(button.dataset.put)) words.push(button.dataset.put);
      field.value = words.join(" ");
      field.focus();
    });
  }

  for (const own of document.querySelectorAll("fieldset.own")) {
    const show = () => {
      const kind = own.querySelector("input[name=own-kind]:checked")?.value ?? "none";
      for (const part of own.querySelectorAll("[data-of]")) part.hidden = part.dataset.of !== kind;
    };
    own.addEventListener("change", show);
    show();
  }
})();
