export {
  authenticate,
  hashOf,
  newToken,
  type SentToken,
  sentToken,
  type Token,
} from '../../core/authentication/authenticate.ts'
export { areRightsCurrent } from '../../core/authentication/recheck-rights.ts'
export { type AdminToken, ensureAdminToken, rotateAdminToken } from './admin.ts'
export { createToken } from './create.ts'
export { getToken, listTokens, ownToken } from './list.ts'
export { deleteToken, withdrawBase } from './remove.ts'
export { createSignInCode, type SignedIn, type SignInCode, signIn, signOut } from './sign-in.ts'
