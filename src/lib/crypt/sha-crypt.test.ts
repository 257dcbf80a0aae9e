import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSalt, shaCrypt } from './sha-crypt.ts'

test('what crypt(3) gives', async () => {
  assert.equal(
    await shaCrypt('Hello world!', 'sha256', 'saltstring'),
    '$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5',
  )
  assert.equal(
    await shaCrypt('Hello world!', 'sha512', 'saltstring'),
    '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
  )
})

test('a salt that is not given is a new one of sixteen characters', async () => {
  assert.match(newSalt(), /^[./0-9A-Za-z]{16}$/)
  const [one, other] = await Promise.all([shaCrypt('pw', 'sha512'), shaCrypt('pw', 'sha512')])
  assert.notEqual(one, other)
  assert.match(one, /^\$6\$[./0-9A-Za-z]{16}\$[./0-9A-Za-z]{86}$/)
})
