/**
 * Writes an image that buildah has pushed into a directory as an OCI archive: `oci-archive.js <directory> <name:tag>
 * <archive>`. Docker loads it too, because it has a manifest.json. buildah's own archives lose the HEALTHCHECK.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [directory, name, archive] = process.argv.slice(2);
const layout = join(directory, 'layout');
const blobs = 'blobs/sha256';
const blobOf = (digest) => `${blobs}/${digest.replace('sha256:', '')}`;
mkdirSync(join(layout, blobs), { recursive: true });

function keep(blob, mediaType) {
  const file = join(directory, blob.digest.replace('sha256:', ''));
  copyFileSync(file, join(layout, blobOf(blob.digest)));
  return { mediaType, digest: blob.digest, size: statSync(file).size };
}

const pushed = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'));
const config = keep(pushed.config, 'application/vnd.oci.image.config.v1+json');
const layers = pushed.layers.map((layer) => keep(layer, 'application/vnd.oci.image.layer.v1.tar+gzip'));
const mediaType = 'application/vnd.oci.image.manifest.v1+json';
const manifest = JSON.stringify({ schemaVersion: 2, mediaType, config, layers });
const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
writeFileSync(join(layout, blobOf(digest)), manifest);

const { architecture, os } = JSON.parse(readFileSync(join(layout, blobOf(config.digest)), 'utf8'));
const annotations = {
  'io.containerd.image.name': name,
  'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
};
const files = {
  'oci-layout': { imageLayoutVersion: '1.0.0' },
  'index.json': {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [{ mediaType, digest, size: manifest.length, platform: { architecture, os }, annotations }],
  },
  'manifest.json': [
    { Config: blobOf(config.digest), RepoTags: [name], Layers: layers.map((layer) => blobOf(layer.digest)) },
  ],
};
for (const [file, content] of Object.entries(files)) writeFileSync(join(layout, file), JSON.stringify(content));
const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
execFileSync('tar', ['-cf', archive, ...same, '-C', layout, 'blobs', ...Object.keys(files)]);
