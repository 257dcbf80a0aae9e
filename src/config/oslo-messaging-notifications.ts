import { int, list, multiStr, optionGroup, str } from '../lib/oslo-config/options.ts'

export const osloMessagingNotifications = optionGroup('oslo_messaging_notifications', {
  // oslo.messaging
  driver: multiStr({ default: [] }),
  transport_url: str({ secret: true }),
  topics: list({ default: ['notifications'] }),
  retry: int({ default: -1 }),
})
