import { expect, test } from 'vitest';
import { toAscii } from '../../tools/ascii.ts';

/** The value of an expression. */
const resultOf = (code: string): unknown => new Function(`return ${code}`)();

test.for([
  `'é – 😀'`,
  '`é–` + `😀`',
  String.raw`'\é \\é \\\é'`,
  String.raw`'a–b\\–'.replace(/\–/g, '').replace(/[\\–]/g, '+')`,
  `'😀😁'.replaceAll(/[😀–]/gu, 'x')`,
  `'😀😁'.replaceAll(/[[😀–]--[–]]/gv, 'x')`,
  `(({ é: größe }) => größe)({ é: 1 })`,
  `/(?<größe>é)/.exec('é').groups.größe`,
])('a program means the same in ASCII: %s', (code) => {
  const ascii = toAscii(code);
  expect(ascii).toMatch(/^[\0-\x7f]*$/);
  expect(resultOf(ascii)).toEqual(resultOf(code));
});
