# A small image of the simulator: one static binary, no shell, no root. For amd64 and arm64:
#   docker buildx build --platform linux/amd64,linux/arm64 --tag atom-sim .
# docs/packaging.md says how to run it.

# Compiles on the builder's own architecture, for the image's.
FROM --platform=$BUILDPLATFORM rust:1.95-alpine AS build
ARG TARGETARCH
RUN case "$TARGETARCH" in \
      amd64) echo x86_64-unknown-linux-musl ;; \
      arm64) echo aarch64-unknown-linux-musl ;; \
      *) echo "no build for $TARGETARCH" >&2; exit 1 ;; \
    esac > /target
WORKDIR /src
COPY rust-toolchain.toml ./
RUN apk add --no-cache musl-dev && rustup target add "$(cat /target)"
COPY . .
# Rust's own linker: no compiler for the image's architecture is needed.
ENV CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUSTFLAGS="-C link-self-contained=yes"
RUN cargo build --release --locked --bin atom-sim --target "$(cat /target)" \
    && install -D -s "target/$(cat /target)/release/atom-sim" /image/atom-sim \
    || install -D "target/$(cat /target)/release/atom-sim" /image/atom-sim

FROM scratch
COPY --from=build /image/atom-sim /atom-sim
USER 65532:65532
EXPOSE 8281/tcp 5006/udp
# Within the container: the command API stays closed to others unless --commands anyone says otherwise.
HEALTHCHECK --interval=10s --timeout=3s --start-period=2s \
  CMD ["/atom-sim", "ctl", "health"]
ENTRYPOINT ["/atom-sim"]
CMD ["serve", "--host", "0.0.0.0"]
