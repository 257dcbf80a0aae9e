"""A hardware manager with which the agent sees one disk and one network card."""
import os
import pathlib

from ironic_python_agent import hardware


class OneDiskManager(hardware.GenericHardwareManager):
    HARDWARE_MANAGER_NAME = 'OneDiskManager'
    HARDWARE_MANAGER_VERSION = '1'

    def evaluate_hardware_support(self):
        # More than the generic manager, so that its list of this host's disks is never asked for.
        return hardware.HardwareSupport.SERVICE_PROVIDER

    def list_block_devices(self, include_partitions=False, all_serial_and_wwn=False):
        disk = os.environ['AGENT_DISK']
        sectors = int(pathlib.Path('/sys/class/block', os.path.basename(disk), 'size').read_text())
        return [hardware.BlockDevice(name=disk, model='Loop', size=sectors * 512, rotational=False,
                                     serial='loop-1', vendor='Test')]

    def list_network_interfaces(self):
        return [hardware.NetworkInterface(name='eth0', mac_addr=os.environ['AGENT_MAC'],
                                          ipv4_address='192.0.2.60', has_carrier=True)]

    def get_boot_info(self):
        return hardware.BootInfo(current_boot_mode='uefi')

    def get_bmc_address(self):
        return None

    def get_bmc_v6address(self):
        return None
