import type { KeyScope } from '../../src/account/account-key.entity.js';
import type { Role } from '../../src/account/member.entity.js';

/** What an account key needs. `refused`: no key suffices. `unread`: no key is read, so the caller counts as nobody. */
type KeyNeed = KeyScope | 'refused' | 'unread';

/**
 * The role that a member needs for each operation that is not public, and what a key needs. A new operation must be
 * added here, where a reviewer sees it.
 */
export const NEEDS: Readonly<Record<string, readonly [role: Role, key: KeyNeed]>> = {
  acceptOffer: ['editor', 'manage'],
  changePassword: ['viewer', 'unread'],
  checkOffer: ['viewer', 'read'],
  confirmTwoFactor: ['viewer', 'unread'],
  createAccountKey: ['owner', 'refused'],
  createWaitlist: ['editor', 'manage'],
  createWebhook: ['editor', 'manage'],
  decideReferrals: ['editor', 'manage'],
  deleteWaitlist: ['owner', 'manage'],
  deleteWebhook: ['editor', 'manage'],
  disableTwoFactor: ['viewer', 'unread'],
  endSession: ['viewer', 'unread'],
  eraseSignups: ['editor', 'manage'],
  exportWaitlist: ['editor', 'read'],
  getAccount: ['viewer', 'read'],
  getImport: ['viewer', 'read'],
  getOwnMember: ['viewer', 'refused'],
  getStatistics: ['viewer', 'read'],
  inviteMember: ['owner', 'refused'],
  inviteMemberAgain: ['owner', 'refused'],
  importWaiters: ['editor', 'manage'],
  listAccountKeys: ['owner', 'read'],
  listAuditEvents: ['owner', 'read'],
  listDeliveries: ['viewer', 'read'],
  listMembers: ['owner', 'refused'],
  listReleases: ['viewer', 'read'],
  listSessions: ['viewer', 'unread'],
  listSignups: ['viewer', 'read'],
  listWaiters: ['viewer', 'read'],
  listWaitlists: ['viewer', 'read'],
  listWebhooks: ['viewer', 'read'],
  makeOffers: ['editor', 'manage'],
  offboardSignups: ['editor', 'manage'],
  offboardWaiters: ['editor', 'manage'],
  previewMail: ['viewer', 'read'],
  previewReorder: ['viewer', 'read'],
  refreshAccessToken: ['viewer', 'unread'],
  refreshSession: ['viewer', 'unread'],
  refuseReferrals: ['editor', 'manage'],
  removeMember: ['owner', 'refused'],
  renewOfferLink: ['editor', 'manage'],
  replaceApiKey: ['owner', 'manage'],
  replaceRecoveryCodes: ['viewer', 'unread'],
  replaceWebhookSecret: ['editor', 'manage'],
  replayDeliveries: ['editor', 'manage'],
  resetTwoFactor: ['owner', 'refused'],
  returnWaiters: ['editor', 'manage'],
  revokeAccountKey: ['owner', 'manage'],
  runRelease: ['editor', 'manage'],
  sendTestMail: ['editor', 'refused'],
  setUpTwoFactor: ['viewer', 'unread'],
  startPasswordReset: ['owner', 'refused'],
  testWebhook: ['editor', 'manage'],
  updateAccount: ['owner', 'refused'],
  updateMember: ['owner', 'refused'],
  updateOwnMember: ['viewer', 'refused'],
  updateWaiter: ['editor', 'manage'],
  updateWaitlist: ['editor', 'manage'],
  updateWebhook: ['editor', 'manage'],
  getWaiter: ['viewer', 'read'],
  linkSingleSignOn: ['viewer', 'unread'],
};

/** Operations beyond `/api/v1/auth` for members without a second factor that their account requires. */
export const OPEN_WITHOUT_TWO_FACTOR = ['getAccount', 'getOwnMember', 'updateOwnMember'];

/** Operations that a key for some waitlists may not call. */
export const OF_ACCOUNT = ['createWaitlist', 'listAccountKeys', 'revokeAccountKey'];

/** The operations for which an account key counts so. */
export function withKeyNeed(...needs: readonly KeyNeed[]): string[] {
  return Object.keys(NEEDS)
    .filter((id) => needs.includes(NEEDS[id]![1]))
    .sort();
}
