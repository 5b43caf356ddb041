# A small image of the simulator: one static binary, no shell, no root. For amd64 and arm64:
#   docker buildx build --platform linux/amd64,linux/arm64 --tag atom-sim .
# docs/packaging.md says how to run it.

# Compiles on the builder's own architecture, for the image's.
FROM --platform=$BUILDPLATFORM rust:1.95-bookworm AS build
ARG TARGETARCH
RUN case "$TARGETARCH" in \
      amd64) echo x86_64 ;; \
      arm64) echo aarch64 ;; \
      *) echo "no build for $TARGETARCH" >&2; exit 1 ;; \
    esac > /arch \
    && apt-get update -q \
    && apt-get install -qy --no-install-recommends "gcc-$(tr _ - < /arch)-linux-gnu" "libc6-dev-$TARGETARCH-cross"
WORKDIR /src
COPY rust-toolchain.toml ./
RUN rustup target add "$(cat /arch)-unknown-linux-gnu"
COPY . .
# The C library goes into the binary, so that the image needs nothing else.
ENV CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=x86_64-linux-gnu-gcc \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    RUSTFLAGS="-C target-feature=+crt-static" \
    CARGO_PROFILE_RELEASE_STRIP=symbols
RUN cargo build --release --locked --bin atom-sim --target "$(cat /arch)-unknown-linux-gnu" \
    && install -D "target/$(cat /arch)-unknown-linux-gnu/release/atom-sim" /image/atom-sim

FROM scratch
COPY --from=build /image/atom-sim /atom-sim
USER 65532:65532
EXPOSE 8281/tcp 5006/udp
# Asked from inside, where the command API is open by default.
HEALTHCHECK --interval=10s --timeout=3s --start-period=2s CMD ["/atom-sim", "ctl", "health"]
ENTRYPOINT ["/atom-sim"]
CMD ["serve", "--host", "0.0.0.0"]
