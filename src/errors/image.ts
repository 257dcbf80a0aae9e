import { defineError } from './define.ts'
import { InvalidParameterValue, NotAuthorized, NotFound, TemporaryFailure } from './base.ts'

export const CatalogNotFound = defineError<{ service_type: unknown; endpoint_type: unknown }>(
  'CatalogNotFound',
  500,
  (p) => `Service missing from the catalog: service_type ${p.service_type}, endpoint_type ${p.endpoint_type}.`,
)
export const ConfigDriveRegenerationFailure = defineError<Record<string, never>>(
  'ConfigDriveRegenerationFailure',
  500,
  () => 'The config drive could not be rebuilt: no network of the node is known.',
)
export const GlanceConnectionFailed = defineError<{ endpoint: unknown; reason: unknown }>(
  'GlanceConnectionFailed',
  500,
  (p) => `Image service not reachable: endpoint ${p.endpoint}, reason ${p.reason}.`,
)
export const ImageUnacceptable = defineError<{ image_id: unknown; reason: unknown }>(
  'ImageUnacceptable',
  500,
  (p) => `Image ${p.image_id} cannot be used: ${p.reason}`,
)
export const InvalidImage = defineError<Record<string, never>>(
  'InvalidImage',
  ImageUnacceptable,
  () => 'The image failed the safety check.',
)
export const ImageChecksumAlgorithmFailure = defineError<Record<string, never>>(
  'ImageChecksumAlgorithmFailure',
  InvalidImage,
  () =>
    'The checksum algorithm is unknown or not allowed here; give image_os_hash_algo and image_os_hash_value with sha256 or sha512.',
)
export const ImageChecksumError = defineError<Record<string, never>>(
  'ImageChecksumError',
  InvalidImage,
  () => 'The image does not have the checksum that was given for it.',
)
export const ImageChecksumFileReadFailure = defineError<Record<string, never>>(
  'ImageChecksumFileReadFailure',
  503,
  () => 'The file to be checked against its checksum could not be read.',
  InvalidImage,
)
export const ImageChecksumURLNotSupported = defineError<Record<string, never>>(
  'ImageChecksumURLNotSupported',
  InvalidImage,
  () => 'A URL as checksum is refused by [conductor]disable_support_for_checksum_files; give the checksum itself.',
)
export const ImageConvertFailed = defineError<{ image_id: unknown; reason: unknown }>(
  'ImageConvertFailed',
  500,
  (p) => `Image ${p.image_id} could not be converted: ${p.reason}`,
)
export const ImageCreationFailed = defineError<{ image_type: unknown; error: unknown }>(
  'ImageCreationFailed',
  500,
  (p) => `A ${p.image_type} image could not be built: ${p.error}`,
)
export const ImageDownloadFailed = defineError<{ image_href: unknown; reason: unknown }>(
  'ImageDownloadFailed',
  500,
  (p) => `Image ${p.image_href} could not be downloaded: ${p.reason}`,
)
export const ImageHostRateLimitFailure = defineError<{ image_ref: unknown }>(
  'ImageHostRateLimitFailure',
  TemporaryFailure,
  (p) => `Registry throttles us: image_ref ${p.image_ref}.`,
)
export const ImageMatchFailure = defineError<Record<string, never>>(
  'ImageMatchFailure',
  InvalidImage,
  () => 'No image fits the node.',
)
export const ImageNotAuthorized = defineError<{ image_id: unknown }>(
  'ImageNotAuthorized',
  NotAuthorized,
  (p) => `Access to image ${p.image_id} was denied.`,
)
export const ImageNotFound = defineError<{ image_id: unknown }>(
  'ImageNotFound',
  NotFound,
  (p) => `Image ${p.image_id} does not exist.`,
)
export const ImageRefValidationFailed = defineError<{ image_href: unknown; reason: unknown }>(
  'ImageRefValidationFailed',
  500,
  (p) => `Image reference ${p.image_href} is refused: ${p.reason}`,
)
export const ImageServiceAuthenticationRequired = defineError<{ image_ref: unknown }>(
  'ImageServiceAuthenticationRequired',
  ImageUnacceptable,
  (p) => `The source of image ${p.image_ref} asks for credentials.`,
)
export const ImageUploadFailed = defineError<{ image_name: unknown; web_server: unknown; reason: unknown }>(
  'ImageUploadFailed',
  500,
  (p) => `The image ${p.image_name} could not be published in ${p.web_server}: ${p.reason}.`,
)
export const InsufficientDiskSpace = defineError<{ path: unknown; required: unknown; actual: unknown }>(
  'InsufficientDiskSpace',
  500,
  (p) => `The disk that holds ${p.path} is too full: ${p.required} MiB are needed, ${p.actual} MiB are free.`,
)
export const InsufficientMemory = defineError<{ free: unknown; required: unknown }>(
  'InsufficientMemory',
  500,
  (p) => `This host has too little memory: ${p.required} MiB are needed, ${p.free} MiB are free.`,
)
export const InvalidImageRef = defineError<{ image_href: unknown }>(
  'InvalidImageRef',
  InvalidParameterValue,
  (p) => `Image reference ${p.image_href} is malformed.`,
)
export const KeystoneFailure = defineError<Record<string, never>>(
  'KeystoneFailure',
  500,
  () => 'Identity service error.',
)
export const KeystoneUnauthorized = defineError<Record<string, never>>(
  'KeystoneUnauthorized',
  500,
  () => 'Identity service refused us.',
)
export const NetworkError = defineError<Record<string, never>>('NetworkError', 500, () => 'Network operation failed.')
export const StorageError = defineError<Record<string, never>>('StorageError', 500, () => 'Storage operation failed.')
export const SwiftOperationError = defineError<{ operation: unknown; error: unknown }>(
  'SwiftOperationError',
  500,
  (p) => `Object store call failed: operation ${p.operation}, error ${p.error}.`,
)
export const SwiftObjectNotFoundError = defineError<{ obj: unknown; container: unknown; operation: unknown }>(
  'SwiftObjectNotFoundError',
  SwiftOperationError,
  (p) => `Object missing in the store: obj ${p.obj}, container ${p.container}, operation ${p.operation}.`,
)
export const SwiftObjectStillExists = defineError<{ obj: unknown; node: unknown }>(
  'SwiftObjectStillExists',
  500,
  (p) => `Stored object could not be removed: obj ${p.obj}, node ${p.node}.`,
)
