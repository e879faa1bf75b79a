/*
 * What pnpm installs, where a manifest asks for more than is used. Prisma's client runs without its command-line
 * program, which is a peer for generating only: it would come to 200 MB in every image.
 */
function readPackage(manifest) {
  if (manifest.name === '@prisma/client') {
    delete manifest.peerDependencies;
    delete manifest.peerDependenciesMeta;
  }
  return manifest;
}

module.exports = { hooks: { readPackage } };
