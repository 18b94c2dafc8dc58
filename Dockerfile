# Two stages: everything that builds stays behind, the image holds Node, the production dependencies and the build.
# Run it read-only with one volume: docker run --read-only --tmpfs /tmp -v sluicegate:/data -p 8080:8080 -p 9464:9464 sluicegate
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci
COPY config ./config
COPY src ./src
COPY docs ./docs
# Of the libraries that onnxruntime-node brings, the image needs that of its own platform.
RUN npm run build && npm prune --omit=dev \
  && cd node_modules/onnxruntime-node/bin/napi-v6 \
  && find . -mindepth 2 -maxdepth 2 -type d ! -path "./linux/$(node -p process.arch)" -exec rm -r {} + \
  && find . -mindepth 1 -maxdepth 1 -type d -empty -delete

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    SLUICEGATE_HOST=0.0.0.0 \
    SLUICEGATE_OPS_HOST=0.0.0.0 \
    SLUICEGATE_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/config ./config
COPY docs ./docs
COPY LICENSE README.md SECURITY.md CONTRIBUTING.md CHANGELOG.md ./
# The data folder is the only place written to; it belongs to the unprivileged user that runs the process.
RUN mkdir /data && chown node:node /data && ln -s /app/dist/cli.js /usr/local/bin/sluicegate
USER node
VOLUME /data
EXPOSE 8080 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SLUICEGATE_OPS_PORT || 9464}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=64", "dist/cli.js", "serve"]
