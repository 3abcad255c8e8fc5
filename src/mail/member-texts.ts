/** Mails to members are English, as the desk is. */
export const MEMBER_TEXTS = {
  /** Where an account has no name. */
  service_name: 'Waitlist Service',
  invitation_subject: 'You are invited to {account_name}',
  invitation: 'You are invited to join {account_name}, with the role {role}.',
  invitation_note: 'The link works once, for 7 days. If you did not expect this mail, ignore it.',
  invitation_button: 'Accept the invitation',
  password_reset_subject: 'Set a new password',
  password_reset: 'An owner of your account has sent you a link to set a new password for {email}.',
  forgotten_password: 'Somebody asked for a new password for {email}.',
  password_reset_note:
    'The link works once, for an hour. If you do not need a new password, ignore this mail: your password stays as it is.',
  password_reset_button: 'Set a new password',
  two_factor_locked_subject: 'Wrong codes for your login at {account_name}',
  two_factor_locked:
    'Somebody knows your password: it was sent ten times in a row with a wrong code of your second factor. No code is accepted for now. The wait is 15 minutes at first, then longer each time.',
  two_factor_locked_note:
    'If it was you, check the clock of the device that shows the codes. If it was not you, change your password as soon as you can log in.',
  two_factor_locked_button: 'Open your profile',
  webhook_disabled_subject: 'Webhook turned off: {waitlist_name}',
  webhook_disabled: 'This webhook was turned off. Its deliveries failed for five days:',
  webhook_disabled_note: 'Events from now on are not sent to it. Fix the receiver, then turn the webhook on again.',
  webhook_disabled_button: 'Open the desk',
};
