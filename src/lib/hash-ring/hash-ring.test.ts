import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { HashRing } from './hash-ring.ts'

const root = new URL('../../../test/', import.meta.url)
const read = async (file: string) => JSON.parse(await readFile(new URL(file, root), 'utf8'))

interface Facts {
  uuids: string[]
  host_lists: Record<string, string[]>
  vectors: { hosts: string; exponent: number; algorithm: string; ring_size: number; owner_index: string }[]
  small_ring: {
    hosts: string[]
    partitions: number
    algorithm: string
    positions: { position: string; host: string }[]
    lookups: { uuid: string; host: string }[]
  }
  ring_of_three_exponent_5: { hosts: string[]; positions_and_host_index: [string, number][] }
  replicas: { uuid: string; replicas: number; hosts: string[] }[]
  ignoring: { uuid: string; ignore: string[]; hosts: string[] }[]
}
const facts: Facts = await read('facts/hash-ring-vectors.json')
const recorded: {
  vectors: {
    hosts: string[]
    hash_partition_exponent: number
    hash_ring_algorithm: string
    node_uuid_to_host: Record<string, string>
  }[]
} = await read('vectors/rpc-hash-ring.json')

describe('hash ring', () => {
  // rings of 2^16 positions a host take seconds; one of them is enough
  const quick = facts.vectors.filter(({ exponent, hosts }) => exponent <= 8 || hosts === 'three')
  for (const vector of quick) {
    test(`owners of 200 nodes: ${vector.hosts}, 2^${vector.exponent}, ${vector.algorithm}`, () => {
      const hosts = facts.host_lists[vector.hosts]!
      const ring = new HashRing(hosts, { partitions: 2 ** vector.exponent, algorithm: vector.algorithm })
      assert.equal(ring.positions().length, vector.ring_size)
      const owners = facts.uuids.map((uuid) => hosts.indexOf(ring.ownerOf(uuid)!).toString(16)).join('')
      assert.equal(owners, vector.owner_index)
    })
  }

  test('positions are those of tooz', () => {
    const { hosts, partitions, algorithm, positions, lookups } = facts.small_ring
    const ring = new HashRing(hosts, { partitions, algorithm })
    assert.deepEqual(
      ring.positions(),
      positions.map(({ position, host }) => [position, host]),
    )
    for (const { uuid, host } of lookups) assert.equal(ring.ownerOf(uuid), host)
    const three = facts.ring_of_three_exponent_5
    assert.deepEqual(
      new HashRing(three.hosts, { partitions: 32, algorithm: 'md5' }).positions(),
      three.positions_and_host_index.map(([position, index]) => [position, three.hosts[index]]),
    )
  })

  test('several owners, and hosts to pass over', () => {
    const ring = new HashRing(facts.host_lists['five']!, { partitions: 32, algorithm: 'md5' })
    for (const { uuid, replicas, hosts } of facts.replicas) {
      assert.deepEqual(ring.ownersOf(uuid, replicas).sort(), hosts)
    }
    for (const { uuid, ignore, hosts } of facts.ignoring) {
      assert.deepEqual([ring.ownerOf(uuid, new Set(ignore))], hosts)
    }
  })

  test('hosts that the real API addressed', () => {
    for (const vector of recorded.vectors) {
      const ring = new HashRing(vector.hosts, {
        partitions: 2 ** vector.hash_partition_exponent,
        algorithm: vector.hash_ring_algorithm,
      })
      for (const [uuid, host] of Object.entries(vector.node_uuid_to_host)) assert.equal(ring.ownerOf(uuid), host)
    }
  })

  test('nobody owns anything on an empty ring', () => {
    assert.equal(new HashRing([], { partitions: 32, algorithm: 'md5' }).ownerOf('x'), undefined)
  })
})
