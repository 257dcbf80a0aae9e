/** `driver_info` keys that the agent's interfaces read, with what they mean. */
export const agentProperties: Readonly<Record<string, string>> = {
  deploy_kernel: 'Kernel of the deploy ramdisk: an image URL or a Glance id. Required.',
  deploy_ramdisk: 'Ramdisk with the agent, used for deploying and cleaning: an image URL or a Glance id. Required.',
  image_http_proxy: 'URL of the proxy through which the agent downloads images by HTTP. Optional.',
  image_https_proxy: 'URL of the proxy through which the agent downloads images by HTTPS. Optional.',
  image_no_proxy:
    'Host names, IP addresses and domains (with a leading dot), commas between, each with an optional port, that are reached ' +
    'without a proxy. Only read with image_http_proxy or image_https_proxy. Optional.',
  image_download_source:
    'Where the agent gets the image from: "http" its source, "local" the HTTP server of the conductor, "swift" a temporary URL. ' +
    'Optional, [agent]image_download_source.',
  deploy_forces_oob_reboot: 'Power off by the BMC instead of by the agent when a deploy ends. Optional, False.',
  agent_verify_ca:
    'How the certificate of the agent is checked: True, False, or the path of a file or folder of CA certificates. Optional, True.',
}
