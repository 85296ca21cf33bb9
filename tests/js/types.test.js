// The modules carry their types as comments; the checker reads them as strictly as it can.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import test from 'node:test'

test('every module of the page passes the strict type checker', () => {
  const project = fileURLToPath(new URL('jsconfig.json', import.meta.url))
  const checker = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
  const { status, stdout } = spawnSync(process.execPath, [checker, '-p', project], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
})
