import { bool, optionGroup, optionalList, str } from '../lib/oslo-config/options.ts'

export const auditMiddlewareNotifications = optionGroup('audit_middleware_notifications', {
  // keystonemiddleware.audit
  use_oslo_messaging: bool({ default: true }),
  driver: str(),
  topics: optionalList(),
  transport_url: str({ secret: true }),
})
