import { createHmac, timingSafeEqual } from 'node:crypto';

/** Compares two texts in time that does not depend on where they differ. */
export const isSameText = (a: string, b: string): boolean => {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
};

/** What Slack signs: the version, the time in seconds, and the body (Slack's documentation, "Verifying requests"). */
export const slackSigned = (timestamp: string, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`v0:${timestamp}:`), body]);

/** The value of `X-Slack-Signature` for what was signed. */
export const slackSignature = (secret: string, signed: Buffer): string =>
  `v0=${createHmac('sha256', secret).update(signed).digest('hex')}`;
