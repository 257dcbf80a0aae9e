"""The life of a node by openstacksdk, on fake hardware; ends with `done` when every step came out as told."""
import sys

import openstack
from openstack import exceptions

cloud = openstack.connect(auth_type='none', endpoint=sys.argv[1], baremetal_endpoint_override=sys.argv[1])
baremetal = cloud.baremetal


def check(what, seen, wanted):
    if seen != wanted:
        sys.exit(f'{what}: {seen!r} instead of {wanted!r}')


def refused(what, kind, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind:
        return
    sys.exit(f'{what} was not refused')


node = baremetal.create_node(name='sdk-1', driver='fake-hardware', resource_class='gold', properties={'cpus': 4})
check('created', (node.provision_state, node.is_maintenance), ('enroll', False))
check('found', baremetal.find_node('sdk-1').id, node.id)
check('listed', [each.name for each in baremetal.nodes()], ['sdk-1'])
check('listed in full', [each.properties for each in baremetal.nodes(details=True)], [{'cpus': 4}])
refused('an unknown node', exceptions.NotFoundException, baremetal.get_node, 'nobody')
refused('an unknown driver', exceptions.SDKException, baremetal.create_node, driver='teletype')

node = baremetal.update_node(node, extra={'rack': 'a7'}, description='the first')
check('updated', (node.extra, node.description), ({'rack': 'a7'}, 'the first'))
node = baremetal.patch_node(node, [{'op': 'remove', 'path': '/extra/rack'}])
check('patched', node.extra, {})

port = baremetal.create_port(node_id=node.id, address='52:54:00:aa:bb:01')
check('port', [each.address for each in baremetal.ports(node=node.id)], ['52:54:00:aa:bb:01'])
refused('a second port of that address', exceptions.ConflictException, baremetal.create_port, node_id=node.id,
        address='52:54:00:aa:bb:01')
baremetal.update_port(port, extra={'vlan': 7})
check('port updated', baremetal.get_port(port.id).extra, {'vlan': 7})
baremetal.delete_port(port)
check('port deleted', list(baremetal.ports()), [])

for verb, state in (('manage', 'manageable'), ('provide', 'available')):
    node = baremetal.set_node_provision_state(node, verb, wait=True, timeout=60)
    check(verb, node.provision_state, state)
node = baremetal.update_node(node, instance_info={'image_source': 'http://192.0.2.1/i', 'image_checksum': '0' * 32})
result = baremetal.validate_node(node, required=('deploy', 'power'))
check('validate', (result['deploy'].result, result['power'].result), (True, True))
node = baremetal.set_node_provision_state(node, 'active', wait=True, timeout=60,
                                          config_drive={'meta_data': {'hostname': 'sdk-1'}})
check('active', node.provision_state, 'active')
refused('provide of an active node', exceptions.SDKException, baremetal.set_node_provision_state, node, 'provide')
node = baremetal.set_node_provision_state(node, 'deleted', wait=True, timeout=60)
check('deleted', (node.provision_state, node.instance_info), ('available', {}))

baremetal.set_node_power_state(node, 'power on', wait=True, timeout=30)
check('power on', baremetal.get_node(node).power_state, 'power on')
baremetal.set_node_power_state(node, 'power off', wait=True, timeout=30)
baremetal.set_node_boot_device(node, 'pxe', persistent=True)
check('boot device', baremetal.get_node_boot_device(node)['boot_device'], 'pxe')
baremetal.set_node_maintenance(node, 'new disks')
check('maintenance', baremetal.get_node(node).maintenance_reason, 'new disks')
baremetal.unset_node_maintenance(node)
baremetal.add_node_trait(node, 'CUSTOM_GOLD')
check('traits', baremetal.get_node(node).traits, ['CUSTOM_GOLD'])

allocation = baremetal.create_allocation(resource_class='gold', name='mine')
allocation = baremetal.wait_for_allocation(allocation, timeout=30)
check('allocation', (allocation.state, allocation.node_id), ('active', node.id))
baremetal.delete_allocation(allocation)
check('drivers', [each.name for each in baremetal.drivers()], ['fake-hardware'])
baremetal.delete_node(node)
check('nodes at the end', list(baremetal.nodes()), [])
print('done')
