export { authenticate, type WebhookRequest } from './authenticate.ts';
export { readWebhookEvent, slackResponse, type WebhookEvent } from './read-event.ts';
export { generateSecret, secretProblem } from './secrets.ts';
export { isSigned, type WebhookSettings, webhookSettings } from './settings.ts';
