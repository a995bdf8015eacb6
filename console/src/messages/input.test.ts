import { describe, expect, test } from 'vitest';
import { answerFaults, answersOf, firstValues, inputFields, readAddress } from './input.ts';

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', description: 'As in the passport.' },
    mail: { type: 'string', format: 'email' },
    born: { type: 'string', format: 'date' },
    nights: { type: 'integer', default: 2 },
    price: { type: 'number' },
    breakfast: { type: 'boolean', default: true },
    room: {
      type: 'string',
      oneOf: [
        { const: 's', title: 'Single' },
        { const: 'd', title: 'Double' },
      ],
    },
    color: { type: 'string', enum: ['red', 'blue'], enumNames: ['Red', 'Blue'] },
    extras: { type: 'array', items: { type: 'string', enum: ['sea', 'sun'] }, default: ['sea'] },
  },
  required: ['name', 'nights'],
};

describe('a form that a tool asks for', () => {
  const fields = inputFields(schema);
  const field = (name: string) => fields.find((one) => one.name === name)!;

  test('has a field for each property, with its title, options and default, in their order', () => {
    expect(fields.map(({ kind }) => kind)).toEqual([
      ...['text', 'email', 'date', 'number', 'number', 'yes', 'choice', 'choice', 'choices'],
    ]);
    expect(field('name')).toMatchObject({ label: 'Your name', hint: 'As in the passport.', required: true });
    expect(field('mail').label).toBe('mail');
    expect(field('room').options).toEqual([
      { value: 's', label: 'Single' },
      { value: 'd', label: 'Double' },
    ]);
    expect(field('color').options[0]).toEqual({ value: 'red', label: 'Red' });
    expect(firstValues(fields)).toMatchObject({ nights: '2', breakfast: true, extras: ['sea'], room: '' });
  });

  test('sends values in their types, and leaves out what is empty', () => {
    const values = { ...firstValues(fields), name: 'Ada', price: '1.5', room: 'd' };
    expect(answersOf(fields, values)).toEqual({
      answers: { name: 'Ada', nights: 2, price: 1.5, breakfast: true, room: 'd', extras: ['sea'] },
      faults: {},
    });
  });

  test('names what is absent or no number', () => {
    const values = { ...firstValues(fields), nights: '1.5', price: 'x' };
    expect(answersOf(fields, values).faults).toEqual({
      name: 'is required',
      nights: 'must be a whole number',
      price: 'must be a number',
    });
  });

  test('shows what the API finds next to its field', () => {
    const details = [
      { path: 'decisions[0].arguments.mail', message: 'must be an e-mail address' },
      { path: 'decisions[0].arguments["a b"]', message: 'is required' },
      { path: 'decisions', message: 'must name each call' },
    ];
    expect(answerFaults(details)).toEqual({ mail: 'must be an e-mail address', 'a b': 'is required' });
  });

  test('is empty for a schema without properties', () => expect(inputFields(null)).toEqual([]));
});

describe('an address that a tool asks to open', () => {
  test('is whole, with its host apart', () => {
    const address = readAddress('https://pay.example.com:8443/a?b=pay.example.com#c')!;
    expect(address).toMatchObject({ before: 'https://', host: 'pay.example.com:8443', punycode: false });
    expect(address.before + address.host + address.after).toBe(address.href);
  });

  test('shows the host as it is resolved', () => {
    const address = readAddress('https://раypal.example/pay')!;
    expect(address).toMatchObject({ host: 'xn--ypal-43d9g.example', punycode: true });
  });

  test('is none with another scheme', () => {
    expect([readAddress('javascript:alert(1)'), readAddress('no'), readAddress(null)]).toEqual([
      null,
      null,
      null,
    ]);
  });
});
