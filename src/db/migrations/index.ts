export { createSchema } from './create-schema.ts'
