# syntax=docker/dockerfile:1

# Node 26 comes with the packages of the lock file. This image provides npm, and the system libraries that Node needs:
# Node 26 links libatomic, which the slim image lacks.
FROM node:22-slim AS base
RUN apt-get update \
  && apt-get install -y --no-install-recommends libatomic1 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./

# The application. Scripts of packages are not run, and its own sources are not there yet when npm would build it.
FROM base AS console
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json openapi.json openapi-app.json ./
COPY tools ./tools
COPY console ./console
RUN npm run console

FROM base AS packages
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM base
COPY --from=packages /app/node_modules ./node_modules
COPY --from=console /app/console/dist ./console/dist
COPY migrations ./migrations
COPY bin ./bin
COPY src ./src
RUN install -d -o node -g node /data
USER node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node_modules/.bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1 and gets SIGTERM. The platform stops within 20 s, so give it more than docker's 10.
CMD ["node_modules/.bin/node", "src/main.ts"]
