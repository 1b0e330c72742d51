# The program in an image without compilers:
#
#   docker build -t jobfate .
#   docker run --rm -v "$PWD:/work" jobfate analyze TRACE_DIR --out found
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN .ci/package folder image

FROM debian:bookworm-slim
COPY --from=build /src/image/jobfate /usr/local/bin/
COPY --from=build /src/image/LICENSE /src/image/LICENSES-THIRD-PARTY.txt /usr/local/share/doc/jobfate/
COPY --from=build /src/image/man /usr/local/share/man/man1/
WORKDIR /work
ENTRYPOINT ["jobfate"]
