export { TraceView } from './TraceView.tsx';
