# a4emu, with the driver's Mesa for `a4emu run`:
#   docker build -t a4emu .
#   docker run --rm -v "$PWD/captures:/data" -u "$(id -u)" a4emu replay triangle.rd.gz --png triangle.png
#   docker run --rm a4emu run -- eglinfo -B -p surfaceless
# VirtualGL, which `run --window` takes, is not in it: Debian has no package of it, and here is no X server to show windows
# on. `run --frames` writes what a program presents. The jobs of scripts/cluster need no Mesa: they have an image of their own.
FROM rust:1.95-bookworm AS build
WORKDIR /a4emu
COPY . .
RUN scripts/install /opt/a4emu

FROM debian:trixie-slim
# The loaders of OpenGL with the drivers, of which only backports have freedreno, and a program that says what it runs on.
RUN sed -i 's/^Suites: trixie trixie-updates$/& trixie-backports/' /etc/apt/sources.list.d/debian.sources \
    && apt-get update \
    && apt-get install -y --no-install-recommends -t trixie-backports libgl1-mesa-dri libegl1 libgles2 libgl1 libgbm1 \
    && apt-get install -y --no-install-recommends mesa-utils \
    && rm -rf /var/lib/apt/lists/* && useradd --uid 10001 --create-home a4emu
COPY --from=build /opt/a4emu /opt/a4emu
ENV PATH=/opt/a4emu/bin:$PATH
USER 10001
WORKDIR /data
ENTRYPOINT ["a4emu"]
CMD ["--help"]
