# syntax=docker/dockerfile:1

# The tags follow Debian's security updates: build again to get them, with `--pull`. Where builds must be repeatable,
# give digests: `--build-arg NODE=node@sha256:…`.
ARG NODE=node:24-trixie-slim
ARG DEBIAN=debian:trixie-slim

# npm. The Node that runs the platform comes with the packages of the lock file.
FROM ${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY bin ./bin
COPY packages ./packages

# The application and the platform. Scripts of packages are not run, and the sources are not there yet when npm would build
# them.
FROM build AS built
RUN npm ci --ignore-scripts --no-audit --no-fund && node bin/node.js
COPY tsconfig.json openapi.json openapi-app.json ./
COPY tools ./tools
COPY console ./console
COPY migrations ./migrations
COPY src ./src
RUN npm run console && npm run program && install -d -o 1000 -g 1000 node_modules/.cache/node
# Compiled code, which a read-only container could not keep. It is that of a user.
USER 1000:1000
RUN node bin/node.js tools/program.ts --start

FROM build AS packages
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && node bin/node.js
# What no one needs at run time, 160 MB: types, source maps and sources of packages, documents (licenses stay), headers
# of Node, and what two packages bring for browsers: other builds of pdfjs, and the OCR engine and models not used here.
RUN find node_modules -type f ! -iname '*licen[cs]e*' ! -iname '*notice*' \
    \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.md' -o -name '*.mdx' \) -delete \
  && rm -rf node_modules/node-*/include node_modules/node-*/share \
    node_modules/pdfjs-dist/build node_modules/pdfjs-dist/web node_modules/pdfjs-dist/image_decoders \
    node_modules/tesseract.js/dist node_modules/tesseract.js-core/*.wasm.js node_modules/@tesseract.js-data/*/4.0.0 \
  && find node_modules/tesseract.js-core -name 'tesseract-core*' ! -name '*-lstm.*' -delete

# Debian without the lists of its packages and without manuals.
FROM ${DEBIAN} AS system
# Without versions: Debian keeps only the newest of each package.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends libstdc++6 \
  && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /usr/share/man /usr/share/info /usr/share/locale \
  && find /usr/share/doc -type f ! -name copyright -delete

# What runs: that system, as one layer so that what was removed is not in it, and the packages, without npm and a second
# Node.
FROM scratch
COPY --from=system / /
ARG VERSION=1.0.0
LABEL org.opencontainers.image.title="Agent Platform" \
  org.opencontainers.image.description="A self-hosted control plane for AI agents" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}"
RUN install -d -o 1000 -g 1000 /data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=built /app/console/dist ./console/dist
COPY --from=built /app/node_modules/.cache ./node_modules/.cache
COPY --from=built /app/dist ./dist
COPY package.json package-lock.json LICENSE THIRD-PARTY.md ./
COPY migrations ./migrations
COPY bin ./bin
COPY packages ./packages
COPY src ./src
# A number: Kubernetes does not believe names to be without root.
USER 1000:1000
ENV NODE_ENV=production MALLOC_ARENA_MAX=1 HOST=0.0.0.0 PORT=8080 DATA_DIR=/data PATH=/app/node_modules/.bin:$PATH
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1 and gets SIGTERM. The platform stops within 20 s, so give it more than docker's 10.
STOPSIGNAL SIGTERM
CMD ["node", "--max-semi-space-size=8", "bin/start.js"]
