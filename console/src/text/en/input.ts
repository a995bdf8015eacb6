import { catalog } from '../catalog.ts';
import { number } from '../format.ts';

/** Input that a tool asks a person for. */
export const input = catalog({
  title: 'Input',
  asks: (tool: string) => `${tool} asks for input.`,
  asksAgain: (tool: string, round: number) => `${tool} asks for input again (round ${number(round)}).`,
  from: (server: string, host: string) => `Tool server ${server}, ${host}`,
  fromProcess: (server: string) => `Tool server ${server}, a process next to the platform`,
  submit: 'Submit answer',
  decline: 'Decline',
  callArguments: 'What it was called with',
  onlyTool: 'Only the tool gets the answer. The agent and the audit log do not.',
  willAnswer: 'Will be answered',
  willDecline: 'Will be declined',
  choose: 'Choose',
  optional: 'optional',
  noInput: 'It asks for nothing more than your consent.',
  address: 'It asks you to open this address:',
  host: (host: string) => `The host is ${host}. Open it only if you know it.`,
  punycode: (host: string) =>
    `The name of this host has letters that can look like others. It is ${host}: compare each letter.`,
  badAddress: 'This is not an address that can be opened.',
  open: 'Open address',
  finished: 'I have finished',
  required: 'is required',
  notNumber: 'must be a number',
  notInteger: 'must be a whole number',
  notTime: 'must be a date and a time',
});
