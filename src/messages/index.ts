export { cutParts, rawContent, type ShownPart, shownBytes } from './content.ts';
export {
  type MessagePart,
  type MessageRole,
  messageRoles,
  textOf,
  textPart,
  toParts,
  toStored,
} from './messages.ts';
export { findParts, messageDownload, messageList } from './routes.ts';
export { messagePart, shownContent } from './schemas.ts';
