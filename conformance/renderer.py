"""Prints who draws here: GL_RENDERER and GL_VERSION of a context of OpenGL ES 2 without a surface."""
from ctypes import CDLL, POINTER, byref, c_char_p, c_int, c_uint, c_void_p

egl, gles = CDLL("libEGL.so.1"), CDLL("libGLESv2.so.2")
for name in ("eglGetPlatformDisplay", "eglCreateContext"):
    getattr(egl, name).restype = c_void_p
egl.eglGetPlatformDisplay.argtypes = [c_uint, c_void_p, c_void_p]
egl.eglInitialize.argtypes = [c_void_p, c_void_p, c_void_p]
egl.eglChooseConfig.argtypes = [c_void_p, c_void_p, POINTER(c_void_p), c_int, POINTER(c_int)]
egl.eglCreateContext.argtypes = [c_void_p, c_void_p, c_void_p, POINTER(c_int)]
egl.eglMakeCurrent.argtypes = [c_void_p] * 4
gles.glGetString.restype = c_char_p

PLATFORM_SURFACELESS, OPENGL_ES, CONTEXT_VERSION, NONE, RENDERER, VERSION = 0x31DD, 0x30A0, 0x3098, 0x3038, 0x1F01, 0x1F02
display, config, count = egl.eglGetPlatformDisplay(PLATFORM_SURFACELESS, None, None), c_void_p(), c_int()
if not egl.eglInitialize(display, None, None):
    raise SystemExit("EGL has no display without surfaces")
egl.eglChooseConfig(display, (c_int * 1)(NONE), byref(config), 1, byref(count))
egl.eglBindAPI(OPENGL_ES)
context = egl.eglCreateContext(display, config, None, (c_int * 3)(CONTEXT_VERSION, 2, NONE))
if not context or not egl.eglMakeCurrent(display, None, None, context):
    raise SystemExit(f"EGL makes no context: error {egl.eglGetError():#x}")
print(gles.glGetString(RENDERER).decode(), gles.glGetString(VERSION).decode(), sep=", ")
