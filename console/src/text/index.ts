export { catalog } from './catalog.ts';
export { bytes, duration, list, number, percent, plural, usd } from './format.ts';
