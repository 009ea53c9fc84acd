// Preloaded into a program that draws by EGL and OpenGL ES, writes each frame that it presents as a picture:
// FRAMES_FOLDER/00000.ppm and on. scripts/drivers compares the pictures of two drivers. With FRAMES_END the program
// ends after so many frames.
//
// It reads the pixels when the program calls eglSwapBuffers. Programs get that function in three ways: linked,
// by dlsym, and by eglGetProcAddress. So this file has functions of all three names.
//
// A game moves by the time that has passed. With SDL it asks SDL_GetTicks, which here says TICK milliseconds more at
// each call. So its frames show the same on a driver of any speed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EGL_HEIGHT = 0x3056, EGL_WIDTH = 0x3057, GL_RGBA = 0x1908, GL_UNSIGNED_BYTE = 0x1401, TICK = 20 };

unsigned eglSwapBuffers(void *display, void *surface);
void *eglGetProcAddress(const char *name);

// glibc's dlsym. Its symbol has had a new version since glibc 2.34.
static void *real_dlsym(void *handle, const char *name) {
    static void *(*dlsym)(void *, const char *);
    const char *versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    for (int i = 0; !dlsym && i < 3; i++) *(void **)&dlsym = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return dlsym ? dlsym(handle, name) : NULL;
}

// A function of EGL's own library.
static void *of_egl(const char *name) {
    static void *library;
    if (!library) library = dlopen("libEGL.so.1", RTLD_NOW);
    return library ? real_dlsym(library, name) : NULL;
}

static void *instead(const char *name) {
    if (!strcmp(name, "eglSwapBuffers")) return (void *)eglSwapBuffers;
    if (!strcmp(name, "eglGetProcAddress")) return (void *)eglGetProcAddress;
    return NULL;
}

void *dlsym(void *restrict handle, const char *restrict name) {
    void *found = real_dlsym(handle, name);
    return found && instead(name) ? instead(name) : found;
}

void *eglGetProcAddress(const char *name) {
    void *(*next)(const char *) = (void *(*)(const char *))of_egl("eglGetProcAddress");
    return instead(name) ? instead(name) : next(name);
}

// Rows of OpenGL go upwards, rows of a picture downwards.
static void write_picture(const char *path, const unsigned char *pixels, int width, int height) {
    FILE *file = fopen(path, "wb");
    if (!file) return;
    fprintf(file, "P6\n%d %d\n255\n", width, height);
    for (int y = height - 1; y >= 0; y--)
        for (int x = 0; x < width; x++) fwrite(pixels + 4 * (y * width + x), 1, 3, file);
    fclose(file);
}

unsigned SDL_GetTicks(void) {
    static unsigned ticks;
    return __atomic_add_fetch(&ticks, TICK, __ATOMIC_RELAXED);
}

unsigned eglSwapBuffers(void *display, void *surface) {
    static int frame;
    unsigned (*query)(void *, void *, int, int *) = (unsigned (*)(void *, void *, int, int *))of_egl("eglQuerySurface");
    void (*read)(int, int, int, int, unsigned, unsigned, void *) =
        (void (*)(int, int, int, int, unsigned, unsigned, void *))eglGetProcAddress("glReadPixels");
    int width = 0, height = 0;
    query(display, surface, EGL_WIDTH, &width);
    query(display, surface, EGL_HEIGHT, &height);
    unsigned char *pixels = calloc((size_t)width * height, 4);
    const char *folder = getenv("FRAMES_FOLDER");
    if (pixels && folder) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%05d.ppm", folder, frame++);
        read(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        write_picture(path, pixels, width, height);
    }
    free(pixels);
    const char *end = getenv("FRAMES_END");
    if (end && frame >= atoi(end)) exit(0);
    unsigned (*next)(void *, void *) = (unsigned (*)(void *, void *))of_egl("eglSwapBuffers");
    return next(display, surface);
}
