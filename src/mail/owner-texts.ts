/** Mails to owners are English, as the desk is. */
export const OWNER_TEXTS = {
  webhook_disabled_subject: 'Webhook turned off: {waitlist_name}',
  webhook_disabled: 'This webhook was turned off. Its deliveries failed for five days:',
  webhook_disabled_note: 'Events from now on are not sent to it. Fix the receiver, then turn the webhook on again.',
  webhook_disabled_button: 'Open the desk',
};
