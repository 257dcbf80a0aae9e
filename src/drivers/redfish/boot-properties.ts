/** `driver_info` keys of booting over virtual media, as `GET /v1/drivers/redfish/properties` shows them. */
export const bootProperties = {
  deploy_kernel: 'URL or Glance id of the kernel of the agent. Required without deploy_iso.',
  deploy_ramdisk: 'URL or Glance id of the ramdisk with the agent. Required without deploy_iso.',
  deploy_iso: 'URL or Glance id of a ready-made ISO of the agent. Required without deploy_kernel and deploy_ramdisk.',
} as const
