import type { ConfigOf } from '../lib/oslo-config/options.ts'
import { agent } from './agent.ts'
import { agentContainers } from './agent-containers.ts'
import { anaconda } from './anaconda.ts'
import { ansible } from './ansible.ts'
import { api } from './api.ts'
import { audit } from './audit.ts'
import { auditMiddlewareNotifications } from './audit-middleware-notifications.ts'
import { autoDiscovery } from './auto-discovery.ts'
import { cache } from './cache.ts'
import { cifs } from './cifs.ts'
import { cinder } from './cinder.ts'
import { conductor } from './conductor.ts'
import { console } from './console.ts'
import { cors } from './cors.ts'
import { database } from './database.ts'
import { defaults } from './default.ts'
import { deploy } from './deploy.ts'
import { dhcp } from './dhcp.ts'
import { dnsmasq } from './dnsmasq.ts'
import { diskUtils } from './disk-utils.ts'
import { drac } from './drac.ts'
import { errors } from './errors.ts'
import { fake } from './fake.ts'
import { glance } from './glance.ts'
import { healthcheck } from './healthcheck.ts'
import { inspectionRules } from './inspection-rules.ts'
import { inspector } from './inspector.ts'
import { inventory } from './inventory.ts'
import { ipmi } from './ipmi.ts'
import { ironicNetworking } from './ironic-networking.ts'
import { ironicNetworkingJsonRpc } from './ironic-networking-json-rpc.ts'
import { jsonRpc } from './json-rpc.ts'
import { keystoneAuthtoken } from './keystone-authtoken.ts'
import { mdns } from './mdns.ts'
import { metrics } from './metrics.ts'
import { metricsStatsd } from './metrics-statsd.ts'
import { neutron } from './neutron.ts'
import { nfs } from './nfs.ts'
import { nova } from './nova.ts'
import { oci } from './oci.ts'
import { openkeel } from './openkeel.ts'
import { osloConcurrency } from './oslo-concurrency.ts'
import { osloMessagingKafka } from './oslo-messaging-kafka.ts'
import { osloMessagingNotifications } from './oslo-messaging-notifications.ts'
import { osloMessagingRabbit } from './oslo-messaging-rabbit.ts'
import { osloMiddleware } from './oslo-middleware.ts'
import { osloMiddlewareTracing } from './oslo-middleware-tracing.ts'
import { osloPolicy } from './oslo-policy.ts'
import { osloVersionedobjects } from './oslo-versionedobjects.ts'
import { profiler } from './profiler.ts'
import { profilerJaeger } from './profiler-jaeger.ts'
import { profilerOtlp } from './profiler-otlp.ts'
import { pxe } from './pxe.ts'
import { pxeFilter } from './pxe-filter.ts'
import { redfish } from './redfish.ts'
import { sensorData } from './sensor-data.ts'
import { serviceCatalog } from './service-catalog.ts'
import { ssl } from './ssl.ts'
import { swift } from './swift.ts'
import { vnc } from './vnc.ts'

/** Every option group, by its name in `ironic.conf`. */
export const optionGroups = {
  DEFAULT: defaults,
  agent,
  agent_containers: agentContainers,
  anaconda,
  ansible,
  api,
  audit,
  auto_discovery: autoDiscovery,
  cifs,
  cinder,
  conductor,
  console,
  database,
  deploy,
  dhcp,
  disk_utils: diskUtils,
  dnsmasq,
  drac,
  errors,
  fake,
  glance,
  healthcheck,
  inspection_rules: inspectionRules,
  inspector,
  inventory,
  ipmi,
  ironic_networking: ironicNetworking,
  ironic_networking_json_rpc: ironicNetworkingJsonRpc,
  json_rpc: jsonRpc,
  mdns,
  metrics,
  metrics_statsd: metricsStatsd,
  neutron,
  nfs,
  nova,
  oci,
  pxe,
  pxe_filter: pxeFilter,
  redfish,
  sensor_data: sensorData,
  service_catalog: serviceCatalog,
  swift,
  vnc,
  oslo_messaging_notifications: osloMessagingNotifications,
  oslo_messaging_rabbit: osloMessagingRabbit,
  oslo_messaging_kafka: osloMessagingKafka,
  oslo_policy: osloPolicy,
  oslo_concurrency: osloConcurrency,
  cors,
  oslo_middleware: osloMiddleware,
  oslo_middleware_tracing: osloMiddlewareTracing,
  ssl,
  oslo_versionedobjects: osloVersionedobjects,
  cache,
  keystone_authtoken: keystoneAuthtoken,
  audit_middleware_notifications: auditMiddlewareNotifications,
  profiler,
  profiler_jaeger: profilerJaeger,
  profiler_otlp: profilerOtlp,
  openkeel,
}

export type Config = ConfigOf<typeof optionGroups>
