export { createSchema } from './create-schema.ts'
export { schemaVersion } from './version.ts'
