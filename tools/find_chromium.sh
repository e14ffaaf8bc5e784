#!/usr/bin/env bash
# Install Chromium for the tests of pages, where there is none and apt-get can. They are skipped
# where none can be had, with a line that says so.
set -uo pipefail

for name in ${CHROMIUM:-chromium chromium-browser google-chrome}; do
    if command -v "$name" >/dev/null; then exit; fi
done
as_root=(env DEBIAN_FRONTEND=noninteractive)
if [ "$(id -u)" != 0 ]; then as_root=(sudo -n "${as_root[@]}"); fi
{
    timeout 300 "${as_root[@]}" apt-get update -qq &&
        timeout 300 "${as_root[@]}" apt-get install -qq --yes --no-install-recommends \
            chromium fonts-liberation
} >/dev/null 2>&1 ||
    echo "Tests in a browser are SKIPPED: Chromium is not there and could not be installed."
