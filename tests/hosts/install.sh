#!/bin/sh
# What tests/hosts needs, from Debian (as root) and npm. A node that is there
# already stays.
set -eu
cd "$(dirname "$0")/../.."

packages='jq neovim emacs-nox elpa-eglot python3 python3-uvicorn
	godot3-server runit s6 tini dash
	openssh-client openssh-server curl make sudo bsdutils
	zsh fish mksh ksh yash tcsh busybox vim less fzf tmux'
command -v npm >/dev/null || packages="$packages nodejs npm"

export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
apt-get install -q -y --no-install-recommends $packages

mkdir -p .build/hosts
cp tests/hosts/package.json .build/hosts/
npm install --prefix .build/hosts --no-audit --no-fund --ignore-scripts
