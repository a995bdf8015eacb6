import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';
import { JobFault } from '../fault.ts';
import type { Box, Line } from './page.ts';
import { cellFrom } from './pdf-lines.ts';

/** The engine of the neural models, which `4.0.0_best_int` are. */
const lstmOnly = 1;

interface Handlers {
  setAdapter(adapter: object): void;
  dispatchHandlers(
    packet: { workerId: string; jobId: string; action: string; payload: object },
    send: (reply: { status: string; data: unknown }) => void,
  ): void;
}

/** Text that tesseract.js finds, in pixels from the top left. */
interface Found {
  text: string;
  /** 0 to 100. */
  confidence: number;
  bbox: { x0: number; y0: number; x1: number; y1: number };
}
interface FoundLine extends Found {
  words: Found[];
}
interface Recognised {
  blocks: { paragraphs: { lines: FoundLine[] }[] }[] | null;
}

/**
 * Tesseract in this thread: its worker script with an adapter of ours, because a child may not start threads. Language
 * data comes from the installed packages; nothing is cached or downloaded.
 */
export class Ocr {
  readonly #handlers: Handlers;
  readonly #languages: string[];

  private constructor(handlers: Handlers, languages: string[]) {
    this.#handlers = handlers;
    this.#languages = languages;
  }

  static async open(languages: string[]): Promise<Ocr> {
    const require = createRequire(import.meta.url);
    const handlers = require('tesseract.js/src/worker-script/index.js') as Handlers;
    handlers.setAdapter({
      getCore: require('tesseract.js/src/worker-script/node/getCore.js'),
      gunzip: gunzipSync,
    });
    const ocr = new Ocr(handlers, languages);
    const langs = languages.map((code) => ({
      code,
      data: readFileSync(require.resolve(`@tesseract.js-data/${code}/4.0.0_best_int/${code}.traineddata.gz`)),
    }));
    // The worker script gives this to `getCore` as the engine.
    await ocr.#ask('load', { options: { lstmOnly, corePath: null, logging: false } });
    await ocr.#ask('loadLanguage', { langs, options: { cacheMethod: 'none', gzip: true, lstmOnly: true } });
    await ocr.#ask('initialize', { langs: ocr.#languages.join('+'), oem: lstmOnly });
    return ocr;
  }

  /** Reads a picture of this size, in pixels. Throws `unreadable`. */
  async read(picture: Buffer, size: { width: number; height: number }): Promise<Line[]> {
    let found: Recognised;
    try {
      found = (await this.#ask('recognize', {
        image: picture,
        options: {},
        output: { text: false, blocks: true },
      })) as Recognised;
    } catch {
      throw new JobFault('unreadable', 'the picture cannot be read');
    }
    const lines = (found.blocks ?? []).flatMap((block) => block.paragraphs.flatMap(({ lines: own }) => own));
    return lines.map((line) => toLine(line, size)).filter(({ text }) => text !== '');
  }

  #ask(action: string, payload: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#handlers.dispatchHandlers(
        { workerId: 'ocr', jobId: action, action, payload },
        ({ status, data }) => {
          if (status === 'resolve') resolve(data);
          else if (status === 'reject') reject(new Error(String(data)));
        },
      );
    });
  }
}

const toLine = (line: FoundLine, { width, height }: { width: number; height: number }): Line => {
  const boxOf = ({ bbox: { x0, y0, x1, y1 } }: Found): Box => ({
    left: x0 / width,
    top: y0 / height,
    width: (x1 - x0) / width,
    height: (y1 - y0) / height,
  });
  let text = '';
  let right = Number.POSITIVE_INFINITY;
  const words = line.words.map((word) => {
    const isApart = word.bbox.x0 - right > (line.bbox.y1 - line.bbox.y0) * cellFrom;
    const start = text.length + (text === '' ? 0 : 1);
    text += (text === '' ? '' : isApart ? '\t' : ' ') + word.text.trim();
    right = word.bbox.x1;
    return { start, end: text.length, bbox: boxOf(word) };
  });
  return { text, bbox: boxOf(line), words, confidence: line.confidence / 100 };
};
