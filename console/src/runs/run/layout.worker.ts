import { type Drawing, layoutOf } from './layout'

addEventListener('message', (event: MessageEvent<Drawing>) => postMessage(layoutOf(event.data)))
