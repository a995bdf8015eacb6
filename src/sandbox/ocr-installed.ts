import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

const isInstalled = (file: string): boolean => {
  try {
    require.resolve(file);
    return true;
  } catch {
    return false;
  }
};

/** Returns whether OCR is installed: its packages are optional. */
export const isOcrInstalled = (): boolean =>
  isInstalled('tesseract.js/src/worker-script/index.js') && isInstalled('@napi-rs/canvas');

/** Returns whether the data of a language of Tesseract, such as `eng`, is installed. */
export const isOcrLanguageInstalled = (code: string): boolean =>
  isInstalled(`@tesseract.js-data/${code}/4.0.0_best_int/${code}.traineddata.gz`);
