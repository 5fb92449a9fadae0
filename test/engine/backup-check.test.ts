/** What the diagnostics say of backups in each state. */
import { expect, test } from 'vitest'
import type { BackupHealth } from '../../src/engine/core/scope.ts'
import { backupCheck } from '../../src/engine/jobs/diagnostics/backup-check.ts'

const GIB = 1024 ** 3
const before = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
const healthy = (): BackupHealth => ({
  ...{ state: 'ok', last_at: before(60), wal_to: before(1), cause: undefined, everyHours: 24 },
  ...{ room: { free: 50 * GIB, total: 100 * GIB }, isOnDiskOfData: false },
})

test.each<[string, Partial<BackupHealth>, string, RegExp]>([
  ['sound', {}, 'ok', /newest backup is of .*can be restored\. 50\.0 of 100\.0 GiB are free there/],
  ['in a bucket', { room: undefined }, 'ok', /can be restored\.$/],
  ['held', { state: 'held', last_at: null, wal_to: null }, 'ok', /plinth deliveries resume/],
  ['about to begin', { last_at: null, wal_to: null }, 'ok', /first backup is being made/],
  ['in a process that has just started', { wal_to: null, last_at: before(700) }, 'ok', /can be restored/],
  [
    'failing from the start',
    { last_at: null, state: 'failing', cause: 'EACCES' },
    'error',
    /no backup yet.*EACCES/,
  ],
  ['failing for a minute', { state: 'failing', cause: 'ENOSPC' }, 'warning', /nothing is lost yet.*ENOSPC/],
  ['behind', { state: 'failing', wal_to: before(11), cause: 'EIO' }, 'error', /last 11 minutes .*EIO/],
  ['old', { last_at: before(49 * 60), cause: 'EIO' }, 'error', /two intervals ago.*EIO/],
  ['a day and a half old', { last_at: before(36 * 60) }, 'ok', /newest backup/],
  ['stopped', { state: 'stopped' }, 'error', /disk of the data is nearly full/],
  [
    'nearly without room',
    { room: { free: GIB / 2, total: 100 * GIB } },
    'warning',
    /Only 0\.5 of 100\.0 GiB/,
  ],
  ['without room', { room: { free: 0, total: 100 * GIB } }, 'error', /PLINTH_BACKUP_DAYS/],
  ['on the disk of the data', { isOnDiskOfData: true }, 'warning', /destroys both/],
])('backups that are %s', (_name, difference, status, message) => {
  expect(backupCheck({ ...healthy(), ...difference })).toEqual({
    status,
    message: expect.stringMatching(message),
  })
})

test('a server without backups says which setting makes some', () => {
  expect(backupCheck(undefined)).toEqual({
    status: 'ok',
    message: expect.stringContaining('PLINTH_BACKUP_URL'),
  })
})
