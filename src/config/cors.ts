import { bool, int, list, optionGroup, optionalList } from '../lib/oslo-config/options.ts'

export const cors = optionGroup('cors', {
  // oslo.middleware.cors
  allowed_origin: optionalList(),
  allow_credentials: bool({ default: true }),
  expose_headers: list({ default: [] }),
  max_age: int({ default: 3600 }),
  allow_methods: list({ default: ['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'PATCH'] }),
  allow_headers: list({ default: [] }),
})
