// Three scenes with the stages between vertices and fragments, OpenGL ES 3.1. Frames a second at 1280x720:
//     cc -O2 scenes.c -o scenes -lEGL -lGLESv2 -lm; ./scenes explode|fur|terrain|grass FRAMES
// explode: a geometry shader moves each of 20,000 triangles along its normal. fur: it makes each a cone of three.
// terrain: 32 x 32 patches of quads at level 22, about a million triangles. grass: the same with the shader of fur behind it.
// Each frame ends with glFinish; the first is drawn before time counts. OUT=FILE.ppm writes the last frame.
//
// With -DSMALL they are small scenes of 256x256, as captures/geometry/gl-*.rd.gz has them, recorded with FRAMES 0:
//     a4emu run --mesa target/mesa-geometry --record gl-explode.rd.gz -- ./scenes explode 0
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>
#include <GLES2/gl2ext.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef SMALL
enum { WIDTH = 256, HEIGHT = 256, AROUND = 12, ALONG = 6, PATCHES = 2, LEVEL = 6 };
#define MOVED .3f
#else
enum { WIDTH = 1280, HEIGHT = 720, AROUND = 100, ALONG = 100, PATCHES = 32, LEVEL = 22 };
#define MOVED 0
#endif
#define FLOATS "precision highp float;\n"
#define ES "#version 310 es\n" FLOATS
#define GS "#version 310 es\n#extension GL_EXT_geometry_shader : require\n" FLOATS
#define TS "#version 310 es\n#extension GL_EXT_tessellation_shader : require\n" FLOATS

static const char *vertex = ES "layout(location=0) in vec3 p; out vec3 P; void main(){ P=p; gl_Position=vec4(p,1); }";
static const char *lit = ES "in vec3 N; out vec4 c; void main(){ c=vec4(vec3(.1)+vec3(.8,.5,.3)*abs(dot(normalize(N),normalize(vec3(.4,.7,1)))),1); }";
static const char *explode = GS "layout(triangles) in; layout(triangle_strip,max_vertices=3) out; uniform mat4 m; uniform float t; in vec3 P[]; out vec3 N;"
    "void main(){ vec3 n=normalize(cross(P[1]-P[0],P[2]-P[0])); for(int i=0;i<3;i++){ N=n; gl_Position=m*vec4(P[i]+n*t,1); EmitVertex(); } EndPrimitive(); }";
static const char *fur = GS "layout(triangles) in; layout(triangle_strip,max_vertices=9) out; uniform mat4 m; uniform float t; in vec3 P[]; out vec3 N;"
    "void main(){ vec3 n=normalize(cross(P[1]-P[0],P[2]-P[0])); vec3 top=(P[0]+P[1]+P[2])/3.+n*(.05+t);"
    "for(int i=0;i<3;i++){ int k=i==2?0:i+1; vec3 f=cross(P[k]-P[i],top-P[i]);"
    "N=f; gl_Position=m*vec4(P[i],1); EmitVertex(); N=f; gl_Position=m*vec4(P[k],1); EmitVertex(); N=f; gl_Position=m*vec4(top,1); EmitVertex(); EndPrimitive(); } }";
static const char *control = TS "layout(vertices=4) out; in vec3 P[]; out vec3 Q[]; uniform float level;"
    "void main(){ Q[gl_InvocationID]=P[gl_InvocationID]; if(gl_InvocationID==0){ gl_TessLevelOuter[0]=level; gl_TessLevelOuter[1]=level; gl_TessLevelOuter[2]=level; gl_TessLevelOuter[3]=level; gl_TessLevelInner[0]=level; gl_TessLevelInner[1]=level; } }";
static const char *evaluation = TS "layout(quads,equal_spacing,ccw) in; in vec3 Q[]; uniform mat4 m; uniform float t; out vec3 N;"
    "float height(vec2 p){ return .10*sin(p.x*7.+t)+.06*sin(p.y*13.+p.x*3.)+.02*sin(p.x*41.)*cos(p.y*37.); }"
    "void main(){ vec3 p=mix(mix(Q[0],Q[1],gl_TessCoord.x),mix(Q[2],Q[3],gl_TessCoord.x),gl_TessCoord.y); float h=height(p.xz), d=.01;"
    "N=vec3(h-height(p.xz+vec2(d,0)),d,h-height(p.xz+vec2(0,d))); gl_Position=m*vec4(p.x,h,p.z,1); }";

static const char *rooted = TS "layout(quads,fractional_odd_spacing,ccw) in; in vec3 Q[]; out vec3 P;"
    "void main(){ P=mix(mix(Q[0],Q[1],gl_TessCoord.x),mix(Q[2],Q[3],gl_TessCoord.x),gl_TessCoord.y); gl_Position=vec4(P,1); }";

static void attach(GLuint program, GLenum kind, const char *text) {
    GLuint shader = glCreateShader(kind);
    GLint good;
    char log[4096];
    glShaderSource(shader, 1, &text, 0);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (!good) { glGetShaderInfoLog(shader, sizeof log, 0, log); fprintf(stderr, "%s\n", log); exit(1); }
    glAttachShader(program, shader);
}

static void vertices(const void *data, size_t bytes) {
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, bytes, data, GL_STATIC_DRAW);
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, 3, GL_FLOAT, 0, 0, 0);
}

static unsigned torus(void) {
    static float at[AROUND * ALONG * 6][3];
    unsigned n = 0;
    static const int corner[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 1}};
    for (int i = 0; i < AROUND; i++)
        for (int j = 0; j < ALONG; j++)
            for (int k = 0; k < 6; k++) {
                float a = (i + corner[k][0]) * 6.2831853f / AROUND, b = (j + corner[k][1]) * 6.2831853f / ALONG;
                float *p = at[n++];
                p[0] = cosf(a) * (1 + .4f * cosf(b)); p[1] = sinf(a) * (1 + .4f * cosf(b)); p[2] = .4f * sinf(b);
            }
    vertices(at, sizeof at);
    return n;
}

static unsigned grid(void) {
    static float at[PATCHES * PATCHES * 4][3];
    unsigned n = 0;
    for (int i = 0; i < PATCHES; i++)
        for (int j = 0; j < PATCHES; j++)
            for (int k = 0; k < 4; k++) {
                float *p = at[n++];
                p[0] = (i + k % 2) * 2.f / PATCHES - 1; p[1] = 0; p[2] = (j + k / 2) * 2.f / PATCHES - 1;
            }
    vertices(at, sizeof at);
    return n;
}

static void view(float *m, float turn, float down, float away) {
    float f = 1.7f, s = sinf(turn), c = cosf(turn), v = sinf(down), w = cosf(down);
    float r[3][3] = {{c, 0, s}, {v * s, w, -v * c}, {-w * s, v, w * c}};
    for (int k = 0; k < 3; k++) {
        m[4 * k] = r[0][k] * f * HEIGHT / WIDTH; m[4 * k + 1] = r[1][k] * f;
        m[4 * k + 2] = -1.02f * r[2][k]; m[4 * k + 3] = -r[2][k];
    }
    m[12] = m[13] = 0; m[14] = 1.02f * away - .2f; m[15] = away;
}

int main(int argc, char **argv) {
    const char *scene = argc > 1 ? argv[1] : "explode";
    int frames = argc > 2 ? atoi(argv[2]) : 10;
    PFNEGLGETPLATFORMDISPLAYEXTPROC platform = (void *)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDisplay display = platform(EGL_PLATFORM_SURFACELESS_MESA, 0, 0);
    EGLint found, wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_RED_SIZE, 8,
        EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8, EGL_ALPHA_SIZE, 8, EGL_DEPTH_SIZE, 24, EGL_NONE};
    EGLint size[] = {EGL_WIDTH, WIDTH, EGL_HEIGHT, HEIGHT, EGL_NONE};
    EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE};
    EGLConfig config;
    eglInitialize(display, 0, 0);
    eglBindAPI(EGL_OPENGL_ES_API);
    if (!eglChooseConfig(display, wanted, &config, 1, &found) || !found) return fprintf(stderr, "no config\n"), 1;
    EGLSurface surface = eglCreatePbufferSurface(display, config, size);
    EGLContext context = eglCreateContext(display, config, 0, version);
    if (!eglMakeCurrent(display, surface, surface, context)) return fprintf(stderr, "no context\n"), 1;

    PFNGLPATCHPARAMETERIEXTPROC patch = (void *)eglGetProcAddress("glPatchParameteriEXT");
    int grass = !strcmp(scene, "grass"), patches = grass || !strcmp(scene, "terrain");
    GLuint program = glCreateProgram();
    attach(program, GL_VERTEX_SHADER, vertex);
    attach(program, GL_FRAGMENT_SHADER, lit);
    if (patches) {
        attach(program, GL_TESS_CONTROL_SHADER_EXT, control);
        attach(program, GL_TESS_EVALUATION_SHADER_EXT, grass ? rooted : evaluation);
    }
    if (!patches || grass) attach(program, GL_GEOMETRY_SHADER_EXT, strcmp(scene, "explode") ? fur : explode);
    glLinkProgram(program);
    glUseProgram(program);
    glViewport(0, 0, WIDTH, HEIGHT);
    glEnable(GL_DEPTH_TEST);
    glClearColor(.2f, .3f, .4f, 1);
    unsigned count = patches ? grid() : torus();
    glUniform1f(glGetUniformLocation(program, "level"), LEVEL);
    if (patches) patch(GL_PATCH_VERTICES_EXT, 4);

    struct timespec begin, end;
    for (int frame = -1; frame < frames; frame++) {
        float m[16];
        if (frame == 0) clock_gettime(CLOCK_MONOTONIC, &begin);
        view(m, .05f * frame, patches ? .6f : .4f, patches ? 1.9f : 3.f);
        glUniformMatrix4fv(glGetUniformLocation(program, "m"), 1, 0, m);
        glUniform1f(glGetUniformLocation(program, "t"), .02f * frame + MOVED);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        // A row of patches at a time: llvmpipe of Mesa 22.3 counts the vertices of a draw in 16 bits.
        if (patches)
            for (unsigned first = 0; first < count; first += 4 * PATCHES) glDrawArrays(GL_PATCHES_EXT, first, 4 * PATCHES);
        else
            glDrawArrays(GL_TRIANGLES, 0, count);
        glFinish();
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = end.tv_sec - begin.tv_sec + 1e-9 * (end.tv_nsec - begin.tv_nsec);
    printf("%s %s: %.2f frames a second, GL error 0x%x\n", glGetString(GL_RENDERER), scene, frames / seconds, glGetError());
    if (getenv("OUT")) {
        unsigned char *pixels = malloc(WIDTH * HEIGHT * 4);
        glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        FILE *file = fopen(getenv("OUT"), "wb");
        fprintf(file, "P6\n%d %d\n255\n", WIDTH, HEIGHT);
        for (int y = HEIGHT - 1; y >= 0; y--)
            for (int x = 0; x < WIDTH; x++) fwrite(pixels + 4 * (y * WIDTH + x), 1, 3, file);
        fclose(file);
    }
    return 0;
}
