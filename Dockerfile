# syntax=docker/dockerfile:1
FROM node:24-bookworm-slim AS manifest
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM manifest AS build
RUN npm ci --include=dev
COPY . .
RUN npm run build

# Remove the serial number and the time, so that two builds of a commit are identical.
FROM manifest AS bill
COPY scripts/sbom.js scripts/
RUN node scripts/sbom.js \
  | node -e 'const { serialNumber, ...bill } = JSON.parse(fs.readFileSync(0)); delete bill.metadata.timestamp; console.log(JSON.stringify(bill))' \
  >sbom.cdx.json

# Remove what only developers need. The compiler is an optional peer of a dependency, so `--omit=dev` keeps it.
FROM manifest AS dependencies
RUN npm ci --omit=dev --ignore-scripts \
 && rm -rf node_modules/typescript node_modules/.bin \
 && find node_modules -type f \( -name '*.map' -o -name '*.md' -o -name '*.[cm]ts' -o -name '*.ts' \) -delete \
 && rm -rf node_modules/typeorm/browser node_modules/@photostructure/sqlite/src \
      node_modules/@opentelemetry/*/build/esm node_modules/@opentelemetry/*/build/esnext \
 && find node_modules/@photostructure/sqlite/prebuilds -mindepth 1 -maxdepth 1 ! -name 'linux-*' -exec rm -r {} +

# In a stage of its own, because apt leaves files that differ between builds.
FROM node:24-bookworm-slim AS init
RUN apt-get update && apt-get install --yes --no-install-recommends tini

FROM node:24-bookworm-slim
ARG VERSION=0.3.0
ARG REVISION=
LABEL org.opencontainers.image.title="waitlist-service" \
      org.opencontainers.image.description="An open, self-hosted waitlist service: exact positions in the queue" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
ENV NODE_ENV=production
WORKDIR /app
# The program belongs to root, so the service cannot change it. Only two directories belong to the service.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn* \
 && install -d -o node -g node -m 700 data transfers
COPY --from=init /usr/bin/tini-static /usr/bin/tini
COPY --from=dependencies /app/package.json ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=bill /app/sbom.cdx.json ./
VOLUME /app/data
# A number, so that Kubernetes can verify that it is not root.
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# As PID 1, Node.js would ignore signals until it installs handlers, and would not reap orphans of health checks and `exec`.
ENTRYPOINT ["tini", "--"]
CMD ["node", "dist/src/main.js"]
