/** Mails with links to members are English, as the desk is. */
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
};
