import { DomainError } from '../foundation/errors.ts'

/** The refusal to delete what holds something, until its id is repeated in `confirm`. `holds` says what: `Base "a" holds records`. */
export const confirmFirst = (id: string, holds: string, whose: string) =>
  new DomainError('CONFLICT', `${holds}. Send confirm=${id} to delete it with all of them.`, {
    details: [
      {
        path: '/confirm',
        code: 'confirm_required',
        message: `Repeat ${whose} id in confirm.`,
        expected: id,
        hint: `confirm=${id}`,
      },
    ],
  })
