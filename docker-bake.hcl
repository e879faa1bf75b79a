# The images of a release, each for two architectures with an SBOM and its provenance. .github/workflows/release.yml sets
# the variables. One alone, for this machine: IS_LOCAL=true PLATFORMS=linux/amd64 docker buildx bake --file docker-bake.hcl crawl
variable "VERSION" { default = "0.1.0" }
# The commit, where its source is published, and its time in seconds: the same commit gives the same layers.
variable "REVISION" { default = "unknown" }
variable "SOURCE" { default = "unknown" }
variable "SOURCE_DATE_EPOCH" { default = "0" }
# The prefix of the names of the images; by default one that is of no registry.
variable "IMAGES" { default = "localhost/platform" }
variable "PLATFORMS" { default = "linux/amd64,linux/arm64" }
# Images of one platform for this machine's engine, rather than for a registry: without what only a registry keeps.
variable "IS_LOCAL" { default = "false" }

group "default" { targets = ["service"] }

target "service" {
  name       = service
  matrix     = { service = ["identity", "mail", "crawl"] }
  context    = "."
  dockerfile = "services/${service}/Dockerfile"
  platforms  = split(",", PLATFORMS)
  tags       = ["${IMAGES}/${service}:${VERSION}"]
  args = {
    VERSION           = VERSION
    REVISION          = REVISION
    SOURCE            = SOURCE
    SOURCE_DATE_EPOCH = SOURCE_DATE_EPOCH
  }
  # Registries show those of the index; the Dockerfiles' labels say the same of each image.
  annotations = IS_LOCAL == "true" ? [] : [for name, value in {
    title         = service
    version       = VERSION
    revision      = REVISION
    source        = SOURCE
    documentation = SOURCE
    licenses      = "Apache-2.0"
  } : "index,manifest:org.opencontainers.image.${name}=${value}"]
  attest = IS_LOCAL == "true" ? [] : ["type=sbom", "type=provenance,mode=max"]
  output = [IS_LOCAL == "true" ? "type=docker" : "type=image,rewrite-timestamp=true"]
}
