/*M!999999\- enable the sandbox mode */ 
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `alembic_version` (
  `version_num` varchar(32) NOT NULL,
  PRIMARY KEY (`version_num`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `alembic_version` VALUES ('3ef27505c9fb');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `allocations` (
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `version` varchar(15) DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) NOT NULL,
  `name` varchar(255) DEFAULT NULL,
  `node_id` int(11) DEFAULT NULL,
  `state` varchar(15) NOT NULL,
  `last_error` text DEFAULT NULL,
  `resource_class` varchar(80) DEFAULT NULL,
  `traits` text DEFAULT NULL,
  `candidate_nodes` text DEFAULT NULL,
  `extra` text DEFAULT NULL,
  `conductor_affinity` int(11) DEFAULT NULL,
  `owner` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_allocations0uuid` (`uuid`),
  UNIQUE KEY `uniq_allocations0name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `bios_settings` (
  `node_id` int(11) NOT NULL,
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `name` varchar(255) NOT NULL,
  `value` text DEFAULT NULL,
  `version` varchar(15) DEFAULT NULL,
  `attribute_type` varchar(255) DEFAULT NULL,
  `allowable_values` text DEFAULT NULL,
  `lower_bound` int(11) DEFAULT NULL,
  `max_length` int(11) DEFAULT NULL,
  `min_length` int(11) DEFAULT NULL,
  `read_only` tinyint(1) DEFAULT NULL,
  `reset_required` tinyint(1) DEFAULT NULL,
  `unique` tinyint(1) DEFAULT NULL,
  `upper_bound` int(11) DEFAULT NULL,
  PRIMARY KEY (`node_id`,`name`),
  CONSTRAINT `bios_settings_ibfk_1` FOREIGN KEY (`node_id`) REFERENCES `nodes` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `bios_settings` VALUES (1,'2026-12-01 12:48:51',NULL,'a','1','1.1',NULL,'[]',0,NULL,NULL,NULL,NULL,NULL,10);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `chassis` (
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `extra` text DEFAULT NULL,
  `description` varchar(255) DEFAULT NULL,
  `version` varchar(15) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_chassis0uuid` (`uuid`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `chassis` VALUES ('2026-12-01 12:48:52',NULL,1,'aaaaaaaa-0000-4000-8000-000000000007','{}',NULL,'1.4');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `conductor_hardware_interfaces` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `conductor_id` int(11) NOT NULL,
  `hardware_type` varchar(255) NOT NULL,
  `interface_type` varchar(16) NOT NULL,
  `interface_name` varchar(255) NOT NULL,
  `default` tinyint(1) NOT NULL,
  `version` varchar(15) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_conductorhardwareinterfaces0` (`conductor_id`,`hardware_type`,`interface_type`,`interface_name`),
  CONSTRAINT `conductor_hardware_interfaces_ibfk_1` FOREIGN KEY (`conductor_id`) REFERENCES `conductors` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `conductors` (
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `hostname` varchar(255) NOT NULL,
  `drivers` text DEFAULT NULL,
  `online` tinyint(1) DEFAULT NULL,
  `version` varchar(15) DEFAULT NULL,
  `conductor_group` varchar(255) NOT NULL DEFAULT '',
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_conductors0hostname` (`hostname`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `conductors` VALUES ('2026-12-01 12:48:52','2026-12-01 12:48:52',1,'old','[\"redfish\"]',1,'1.4','');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `deploy_template_steps` (
  `version` varchar(15) DEFAULT NULL,
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `deploy_template_id` int(11) NOT NULL,
  `interface` varchar(255) NOT NULL,
  `step` varchar(255) NOT NULL,
  `args` text NOT NULL,
  `priority` int(11) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `deploy_template_steps_interface_idx` (`interface`),
  KEY `deploy_template_steps_step_idx` (`step`),
  KEY `deploy_template_id` (`deploy_template_id`),
  CONSTRAINT `deploy_template_steps_ibfk_1` FOREIGN KEY (`deploy_template_id`) REFERENCES `deploy_templates` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `deploy_template_steps` VALUES (NULL,'2026-12-01 12:48:51',NULL,1,1,'bios','x','{\"a\": 1}',1);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `deploy_templates` (
  `version` varchar(15) DEFAULT NULL,
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `name` varchar(255) NOT NULL,
  `extra` text DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_deploytemplates0name` (`name`),
  UNIQUE KEY `uniq_deploytemplates0uuid` (`uuid`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `deploy_templates` VALUES ('1.2','2026-12-01 12:48:51',NULL,1,'aaaaaaaa-0000-4000-8000-000000000006','CUSTOM_T','{}');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `firmware_information` (
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `node_id` int(11) NOT NULL,
  `component` varchar(255) NOT NULL,
  `initial_version` varchar(255) NOT NULL,
  `current_version` varchar(255) DEFAULT NULL,
  `last_version_flashed` varchar(255) DEFAULT NULL,
  `version` varchar(15) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_nodecomponent0node_id0component` (`node_id`,`component`),
  CONSTRAINT `firmware_information_ibfk_1` FOREIGN KEY (`node_id`) REFERENCES `nodes` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `inspection_rules` (
  `version` varchar(15) DEFAULT NULL,
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) NOT NULL,
  `priority` int(11) NOT NULL,
  `description` varchar(255) DEFAULT NULL,
  `scope` varchar(255) DEFAULT NULL,
  `sensitive` tinyint(1) DEFAULT NULL,
  `phase` varchar(16) DEFAULT NULL,
  `conditions` longtext DEFAULT NULL,
  `actions` longtext NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_inspection_rules0uuid` (`uuid`),
  KEY `inspection_rule_phase_idx` (`phase`),
  KEY `inspection_rule_scope_idx` (`scope`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `node_history` (
  `version` varchar(15) DEFAULT NULL,
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) NOT NULL,
  `conductor` varchar(255) DEFAULT NULL,
  `event_type` varchar(255) DEFAULT NULL,
  `severity` varchar(255) DEFAULT NULL,
  `event` text DEFAULT NULL,
  `user` varchar(64) DEFAULT NULL,
  `node_id` int(11) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_history0uuid` (`uuid`),
  KEY `history_node_id_idx` (`node_id`),
  KEY `history_uuid_idx` (`uuid`),
  KEY `history_conductor_idx` (`conductor`),
  CONSTRAINT `node_history_ibfk_1` FOREIGN KEY (`node_id`) REFERENCES `nodes` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `node_history` VALUES ('1.1','2026-12-01 12:48:52',NULL,1,'728eeada-709f-41ae-95fe-4344ce2c3cbe','c',NULL,'ERROR','e',NULL,1);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `node_inventory` (
  `version` varchar(15) DEFAULT NULL,
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `inventory_data` longtext DEFAULT NULL,
  `plugin_data` longtext DEFAULT NULL,
  `node_id` int(11) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `inventory_node_id_idx` (`node_id`),
  CONSTRAINT `node_inventory_ibfk_1` FOREIGN KEY (`node_id`) REFERENCES `nodes` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `node_tags` (
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `node_id` int(11) NOT NULL,
  `tag` varchar(255) NOT NULL,
  `version` varchar(15) DEFAULT NULL,
  PRIMARY KEY (`node_id`,`tag`),
  KEY `node_tags_idx` (`tag`),
  CONSTRAINT `node_tags_ibfk_1` FOREIGN KEY (`node_id`) REFERENCES `nodes` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `node_traits` (
  `version` varchar(15) DEFAULT NULL,
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `node_id` int(11) NOT NULL,
  `trait` varchar(255) NOT NULL,
  PRIMARY KEY (`node_id`,`trait`),
  KEY `node_traits_idx` (`trait`),
  CONSTRAINT `node_traits_ibfk_1` FOREIGN KEY (`node_id`) REFERENCES `nodes` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `node_traits` VALUES ('1.0','2026-12-01 12:48:51',NULL,1,'CUSTOM_A');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `nodes` (
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `instance_uuid` varchar(36) DEFAULT NULL,
  `chassis_id` int(11) DEFAULT NULL,
  `power_state` varchar(15) DEFAULT NULL,
  `target_power_state` varchar(15) DEFAULT NULL,
  `provision_state` varchar(15) DEFAULT NULL,
  `target_provision_state` varchar(15) DEFAULT NULL,
  `last_error` text DEFAULT NULL,
  `properties` text DEFAULT NULL,
  `driver` varchar(255) DEFAULT NULL,
  `driver_info` text DEFAULT NULL,
  `reservation` varchar(255) DEFAULT NULL,
  `maintenance` tinyint(1) DEFAULT NULL,
  `extra` text DEFAULT NULL,
  `provision_updated_at` datetime DEFAULT NULL,
  `console_enabled` tinyint(1) DEFAULT NULL,
  `instance_info` longtext DEFAULT NULL,
  `conductor_affinity` int(11) DEFAULT NULL,
  `maintenance_reason` text DEFAULT NULL,
  `driver_internal_info` text DEFAULT NULL,
  `name` varchar(255) DEFAULT NULL,
  `inspection_started_at` datetime DEFAULT NULL,
  `inspection_finished_at` datetime DEFAULT NULL,
  `clean_step` text DEFAULT NULL,
  `raid_config` text DEFAULT NULL,
  `target_raid_config` text DEFAULT NULL,
  `network_interface` varchar(255) DEFAULT NULL,
  `resource_class` varchar(80) DEFAULT NULL,
  `boot_interface` varchar(255) DEFAULT NULL,
  `console_interface` varchar(255) DEFAULT NULL,
  `deploy_interface` varchar(255) DEFAULT NULL,
  `inspect_interface` varchar(255) DEFAULT NULL,
  `management_interface` varchar(255) DEFAULT NULL,
  `power_interface` varchar(255) DEFAULT NULL,
  `raid_interface` varchar(255) DEFAULT NULL,
  `vendor_interface` varchar(255) DEFAULT NULL,
  `storage_interface` varchar(255) DEFAULT NULL,
  `version` varchar(15) DEFAULT NULL,
  `rescue_interface` varchar(255) DEFAULT NULL,
  `bios_interface` varchar(255) DEFAULT NULL,
  `fault` varchar(255) DEFAULT NULL,
  `deploy_step` text DEFAULT NULL,
  `conductor_group` varchar(255) NOT NULL DEFAULT '',
  `automated_clean` tinyint(1) DEFAULT NULL,
  `protected` tinyint(1) NOT NULL DEFAULT 0,
  `protected_reason` text DEFAULT NULL,
  `owner` varchar(255) DEFAULT NULL,
  `allocation_id` int(11) DEFAULT NULL,
  `description` text DEFAULT NULL,
  `retired` tinyint(1) DEFAULT 0,
  `retired_reason` text DEFAULT NULL,
  `lessee` varchar(255) DEFAULT NULL,
  `network_data` text DEFAULT NULL,
  `boot_mode` varchar(16) DEFAULT NULL,
  `secure_boot` tinyint(1) DEFAULT NULL,
  `shard` varchar(255) DEFAULT NULL,
  `parent_node` varchar(36) DEFAULT NULL,
  `firmware_interface` varchar(255) DEFAULT NULL,
  `service_step` text DEFAULT NULL,
  `disable_power_off` tinyint(1) DEFAULT 0,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_nodes0uuid` (`uuid`),
  UNIQUE KEY `uniq_nodes0instance_uuid` (`instance_uuid`),
  UNIQUE KEY `uniq_nodes0name` (`name`),
  KEY `chassis_id` (`chassis_id`),
  KEY `nodes_conductor_affinity_fk` (`conductor_affinity`),
  KEY `allocation_id` (`allocation_id`),
  KEY `reservation_idx` (`reservation`),
  KEY `driver_idx` (`driver`),
  KEY `owner_idx` (`owner`),
  KEY `lessee_idx` (`lessee`),
  KEY `provision_state_idx` (`provision_state`),
  KEY `conductor_group_idx` (`conductor_group`),
  KEY `resource_class_idx` (`resource_class`),
  KEY `shard_idx` (`shard`),
  KEY `parent_node_idx` (`parent_node`),
  CONSTRAINT `nodes_conductor_affinity_fk` FOREIGN KEY (`conductor_affinity`) REFERENCES `conductors` (`id`),
  CONSTRAINT `nodes_ibfk_1` FOREIGN KEY (`chassis_id`) REFERENCES `chassis` (`id`),
  CONSTRAINT `nodes_ibfk_2` FOREIGN KEY (`allocation_id`) REFERENCES `allocations` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `nodes` VALUES ('2026-12-01 12:48:51',NULL,1,'aaaaaaaa-0000-4000-8000-000000000001',NULL,NULL,NULL,NULL,'available',NULL,NULL,'{\"cpus\": 4}','redfish','{\"a\": \"x\\u00e4\"}',NULL,0,'{\"k\": [1]}',NULL,0,'{}',NULL,NULL,'{}','n1',NULL,NULL,'{}','{}','{}',NULL,NULL,NULL,NULL,NULL,'inspector',NULL,NULL,NULL,NULL,NULL,'1.42',NULL,NULL,NULL,'{}','',NULL,0,NULL,'me',NULL,NULL,0,NULL,NULL,'{}',NULL,NULL,NULL,NULL,NULL,'{}',0);
INSERT INTO `nodes` VALUES ('2026-12-01 12:48:51',NULL,2,'aaaaaaaa-0000-4000-8000-000000000002',NULL,NULL,NULL,NULL,'enroll',NULL,NULL,'{}','ipmi','{}',NULL,1,'{}',NULL,0,'{\"blob\": \"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\"}',NULL,NULL,'{}','n2',NULL,NULL,'{}','{}','{}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'1.42',NULL,NULL,NULL,'{}','',NULL,0,NULL,NULL,NULL,NULL,0,NULL,NULL,'{}',NULL,NULL,NULL,NULL,NULL,'{}',0);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `portgroups` (
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `name` varchar(255) DEFAULT NULL,
  `node_id` int(11) DEFAULT NULL,
  `address` varchar(18) DEFAULT NULL,
  `extra` text DEFAULT NULL,
  `internal_info` text DEFAULT NULL,
  `standalone_ports_supported` tinyint(1) DEFAULT NULL,
  `properties` text DEFAULT NULL,
  `mode` varchar(255) DEFAULT NULL,
  `version` varchar(15) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_portgroups0uuid` (`uuid`),
  UNIQUE KEY `uniq_portgroups0address` (`address`),
  UNIQUE KEY `uniq_portgroups0name` (`name`),
  KEY `node_id` (`node_id`),
  CONSTRAINT `portgroups_ibfk_1` FOREIGN KEY (`node_id`) REFERENCES `nodes` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `portgroups` VALUES ('2026-12-01 12:48:51',NULL,1,'aaaaaaaa-0000-4000-8000-000000000004','pg',1,NULL,'{}','{}',1,'{}','active-backup','1.6');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `ports` (
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `address` varchar(18) DEFAULT NULL,
  `node_id` int(11) DEFAULT NULL,
  `extra` text DEFAULT NULL,
  `local_link_connection` text DEFAULT NULL,
  `portgroup_id` int(11) DEFAULT NULL,
  `pxe_enabled` tinyint(1) DEFAULT NULL,
  `internal_info` text DEFAULT NULL,
  `physical_network` varchar(64) DEFAULT NULL,
  `version` varchar(15) DEFAULT NULL,
  `is_smartnic` tinyint(1) DEFAULT NULL,
  `name` varchar(255) DEFAULT NULL,
  `description` varchar(255) DEFAULT NULL,
  `vendor` varchar(32) DEFAULT NULL,
  `category` varchar(80) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_ports0address` (`address`),
  UNIQUE KEY `uniq_ports0uuid` (`uuid`),
  UNIQUE KEY `uniq_ports0name` (`name`),
  KEY `node_id` (`node_id`),
  KEY `fk_portgroups_ports` (`portgroup_id`),
  CONSTRAINT `fk_portgroups_ports` FOREIGN KEY (`portgroup_id`) REFERENCES `portgroups` (`id`),
  CONSTRAINT `ports_ibfk_1` FOREIGN KEY (`node_id`) REFERENCES `nodes` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `ports` VALUES ('2026-12-01 12:48:51',NULL,1,'aaaaaaaa-0000-4000-8000-000000000003','52:54:00:00:00:01',1,'{}','{}',NULL,1,'{}',NULL,'1.15',0,NULL,NULL,NULL,NULL);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `runbook_steps` (
  `version` varchar(15) DEFAULT NULL,
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `runbook_id` int(11) NOT NULL,
  `interface` varchar(255) NOT NULL,
  `step` varchar(255) NOT NULL,
  `args` text NOT NULL,
  `order` int(11) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `runbook_steps_interface_idx` (`interface`),
  KEY `runbook_id` (`runbook_id`),
  KEY `runbook_steps_step_idx` (`step`),
  CONSTRAINT `runbook_steps_ibfk_1` FOREIGN KEY (`runbook_id`) REFERENCES `runbooks` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `runbook_steps` VALUES (NULL,'2026-12-01 12:48:51',NULL,1,1,'bios','x','{}',1);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `runbooks` (
  `version` varchar(15) DEFAULT NULL,
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `name` varchar(255) NOT NULL,
  `disable_ramdisk` tinyint(1) DEFAULT NULL,
  `public` tinyint(1) DEFAULT NULL,
  `owner` varchar(255) DEFAULT NULL,
  `extra` text DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_runbooks0name` (`name`),
  UNIQUE KEY `uniq_runbooks0uuid` (`uuid`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `runbooks` VALUES ('1.1','2026-12-01 12:48:51',NULL,1,'aaaaaaaa-0000-4000-8000-000000000005','CUSTOM_R',0,0,NULL,'{}');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `volume_connectors` (
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `node_id` int(11) DEFAULT NULL,
  `type` varchar(32) DEFAULT NULL,
  `connector_id` varchar(255) DEFAULT NULL,
  `extra` text DEFAULT NULL,
  `version` varchar(15) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_volumeconnectors0type0connector_id` (`type`,`connector_id`),
  UNIQUE KEY `uniq_volumeconnectors0uuid` (`uuid`),
  KEY `node_id` (`node_id`),
  CONSTRAINT `volume_connectors_ibfk_1` FOREIGN KEY (`node_id`) REFERENCES `nodes` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `volume_targets` (
  `created_at` datetime DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `uuid` varchar(36) DEFAULT NULL,
  `node_id` int(11) DEFAULT NULL,
  `volume_type` varchar(64) DEFAULT NULL,
  `properties` text DEFAULT NULL,
  `boot_index` int(11) DEFAULT NULL,
  `volume_id` varchar(36) DEFAULT NULL,
  `extra` text DEFAULT NULL,
  `version` varchar(15) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uniq_volumetargets0node_id0boot_index` (`node_id`,`boot_index`),
  UNIQUE KEY `uniq_volumetargets0uuid` (`uuid`),
  CONSTRAINT `volume_targets_ibfk_1` FOREIGN KEY (`node_id`) REFERENCES `nodes` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
