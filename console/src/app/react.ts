/** What is in the file of React: it is evaluated with the file, and not when something first imports it. */
export { createRoot } from 'react-dom/client';
