# Orrery on the system that its figures are checked on. README's first command runs while the image is built.
#   docker build --tag orrery .
#   docker run --rm --volume "$PWD:/work" orrery simulate experiment.json --html run.html
# The stage `developers` has what tests and checks need (.devcontainer/devcontainer.json).

FROM debian:bookworm AS packages
WORKDIR /orrery
COPY apt-packages.txt ./
COPY scripts/setup scripts/setup
RUN scripts/setup && rm -rf /var/lib/apt/lists/*

FROM packages AS developers
RUN scripts/setup developers python && rm -rf /var/lib/apt/lists/*

FROM packages AS build
COPY . .
RUN cmake --preset release -DORRERY_TESTS=OFF -DORRERY_PYTHON=OFF \
    && ./scripts/main-job \
    && cmake --build --preset release \
    && cd build/release && cpack -G DEB

FROM debian:bookworm-slim AS program
COPY --from=build /orrery/build/release/orrery_*.deb /tmp/
RUN apt-get update \
    && apt-get install --yes --no-install-recommends /tmp/orrery_*.deb librsvg2-2 \
    && rm -rf /var/lib/apt/lists/* /tmp/orrery_*.deb
WORKDIR /work
ENTRYPOINT ["orrery"]
CMD ["--help"]
