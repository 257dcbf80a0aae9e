import { bool, int, optionGroup, str } from '../lib/oslo-config/options.ts'

export const osloMiddleware = optionGroup('oslo_middleware', {
  // oslo.middleware.http_proxy_to_wsgi
  enable_proxy_headers_parsing: bool({ default: false }),
  // oslo.middleware.sizelimit
  max_request_body_size: int({ default: 114688 }),
  // oslo.middleware
  http_basic_auth_user_file: str({ default: '/etc/htpasswd' }),
})
