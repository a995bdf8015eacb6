import { catalog } from '../catalog.ts';

/** Words of the page about how documents are read. */
export const documentIntelligence = catalog({
  lead: 'Who reads documents for extractions. A reader only reads text and places; the data are found here.',
  embeddedState: 'Documents are read here, by the platform. Nothing was configured.',
  state: (provider: string) => `Documents are read by ${provider}.`,
  changed: 'Changed {at}.',
  readHere: 'DOCX, XLSX, CSV, HTML and text are always read here.',

  provider: 'Engine',
  providers: {
    embedded: 'Agent Platform',
    azure: 'Azure AI Document Intelligence',
    docling: 'Docling',
    http: 'A reader of your own',
  },
  hints: {
    embedded: 'Documents do not leave this machine.',
    azure: 'PDFs and pictures are sent to your resource in Azure (prebuilt-layout).',
    docling: 'PDFs and pictures are sent to your docling-serve.',
    http: 'PDFs and pictures are sent to your address by POST, and pages with lines come back.',
  },
  endpoint: 'Endpoint',
  endpointHint: 'https://RESOURCE.cognitiveservices.azure.com',
  url: 'URL',
  doclingHint: 'Of a docling-serve, for example http://docling:5001',
  httpHint: 'Gets the bytes of each document.',
  api_key: 'API key',
  keyOptional: 'Empty: none.',
  keyAgain: 'Type it again: the address changes.',
  headers: 'Headers',
  headersHint: 'For example Authorization. Values are never shown again.',
  headersAgain: 'Type them again: the address changes.',
  llm_id: 'Model',
  llmHint: 'It finds the values in the text. Empty: the default LLM configuration.',
  ocr: 'Text recognition (OCR)',
  ocrs: { auto: 'Pictures and pages without text', off: 'Off' },
  ocrHint: 'Of the platform, for what the engine does not read.',
  ocr_languages: 'OCR languages',
  languagesHint: 'Codes of Tesseract with commas. eng is installed.',

  saved: 'Document intelligence saved',
  reset: 'Delete configuration',
  resetText:
    'Documents are read by the platform again. The address and its credentials are deleted. This cannot be undone.',
  wasReset: 'Configuration deleted',
  notConfigured: 'Nothing is configured.',
  testTitle: 'Test result',
  testOk: 'The sample document was read.',
  testFailed: 'The test failed.',
  steps: { address: 'Address', proxy: 'Proxy', read: 'Sample document' },
});
